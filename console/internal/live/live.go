package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Errors that say why nothing is streamed. When the console ends it is route.ErrClosed.
var (
	// ErrMany: who asks has as many streams as one may have. It is a route.ErrOften.
	ErrMany error = refusal{"too many streams of one user", route.ErrOften}
	// ErrFull: the console has as many streams, or watches, as it may have. It is a route.ErrBusy.
	ErrFull error = refusal{"no room for another stream at present", route.ErrBusy}
	// ErrStream: what is around the handler does not let it stream.
	ErrStream = errors.New("nothing can be streamed here")
)

// refusal is an error of package route in better words.
type refusal struct {
	text string
	kind error
}

func (r refusal) Error() string { return r.text }
func (r refusal) Unwrap() error { return r.kind }

// Live has all feeds and listeners. It is safe for use by several goroutines.
type Live struct {
	o       Options
	ids     cursors
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup // feeds, listeners, lists
	buffers sync.Pool      // *[]byte

	mu        sync.Mutex // guards what follows
	isClosed  bool
	feeds     map[topic]*feed
	paces     map[topic]*pace
	listeners map[string]int // by name of the principal
	stats     Stats
}

// Stats count.
type Stats struct {
	Listeners int // that there are
	Watches   int // that there are
	Cut       int // listeners that took nothing for too long, ever
	Refused   int // listeners for whom there was no room, ever
}

// New returns a Live without listeners. Close it.
//
// Errors: one that says which option is missing.
func New(o Options) (*Live, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	ids, err := newCursors()
	if err != nil {
		return nil, err
	}
	l := &Live{o: o, ids: ids, feeds: map[topic]*feed{}, paces: map[topic]*pace{}, listeners: map[string]int{}}
	l.buffers.New = func() any { return new([]byte) }
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l, nil
}

// Close ends all streams with a last event, and waits for that as long as ctx allows. What comes later is refused.
func (l *Live) Close(ctx context.Context) error {
	l.mu.Lock()
	l.isClosed = true
	l.mu.Unlock()
	l.cancel()
	ended := make(chan struct{})
	go func() { // ends when all that it waits for has; each of these has its bound
		defer close(ended)
		l.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("live: close: %w", context.Cause(ctx))
	}
}

// Stats returns what there is and was.
func (l *Live) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Watches = len(l.feeds)
	return s
}

// start begins something that Close waits for; who has started says when he is done. It reports false after Close.
func (l *Live) start() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isClosed {
		l.running.Add(1)
	}
	return !l.isClosed
}

// enter makes room for a listener. Each who has entered leaves.
func (l *Live) enter(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	switch {
	case l.isClosed:
		return route.ErrClosed
	case l.stats.Listeners >= l.o.Listeners:
		err = fmt.Errorf("%w: there are %d", ErrFull, l.o.Listeners)
	case l.listeners[name] >= l.o.PerPrincipal:
		err = fmt.Errorf("%w: %d are allowed", ErrMany, l.o.PerPrincipal)
	}
	if err != nil {
		l.stats.Refused++
		return err
	}
	l.running.Add(1)
	l.stats.Listeners++
	l.listeners[name]++
	return nil
}

func (l *Live) leave(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Listeners--
	if l.listeners[name]--; l.listeners[name] == 0 {
		delete(l.listeners, name)
	}
	l.running.Done()
}

// attach returns the feed of a topic, with one more listener, who detaches.
func (l *Live) attach(t topic) (*feed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.feeds[t]
	if f == nil {
		if l.isClosed {
			return nil, route.ErrClosed
		}
		if len(l.feeds) >= l.o.Watches && !l.endIdle() {
			l.stats.Refused++
			return nil, fmt.Errorf("%w: %d namespaces and jobs are watched", ErrFull, len(l.feeds))
		}
		ctx, cancel := context.WithCancel(l.ctx)
		f = newFeed(t, cancel)
		l.feeds[t] = f
		l.running.Go(func() { l.run(ctx, f) })
	}
	f.listeners++
	if f.idle != nil {
		f.idle.Stop()
		f.idle = nil
	}
	return f, nil
}

// detach is for a listener who goes. The feed goes on for a while, for him to come again.
func (l *Live) detach(f *feed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.listeners--; f.listeners > 0 || l.isClosed || l.feeds[f.topic] != f {
		return
	}
	f.idle = time.AfterFunc(l.o.Linger, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if f.listeners == 0 {
			l.forget(f)
		}
	})
}

// endIdle ends a feed that nobody listens to.
func (l *Live) endIdle() bool {
	for _, f := range l.feeds {
		if f.listeners == 0 {
			l.forget(f)
			return true
		}
	}
	return false
}

// forget ends a feed. From now on another one is the topic's.
func (l *Live) forget(f *feed) {
	if f.idle != nil {
		f.idle.Stop()
	}
	f.cancel()
	if l.feeds[f.topic] == f {
		delete(l.feeds, f.topic)
	}
}

// drop is for a feed that has ended.
func (l *Live) drop(f *feed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(f)
}
