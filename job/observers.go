package job

import (
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// maxEvents bounds the events that an observer has not been told of.
	maxEvents = 10_000
	// lastWordsTime is how long the end of a scheduler waits for its observers.
	lastWordsTime = time.Second
)

// observers are those of a scheduler. What they are told may come from any goroutine.
type observers struct {
	list []*observed
	log  *zap.Logger
}

func newObservers(list []Observer, log *zap.Logger) *observers {
	o := &observers{log: log}
	for _, one := range list {
		o.list = append(o.list, &observed{Observer: one, log: log})
	}
	return o
}

// tell has all observers told something.
func (o *observers) tell(event func(*Observer)) {
	for _, one := range o.list {
		one.add(event)
	}
}

// isDeaf reports whether nobody listens, so that nothing need be put together.
func (o *observers) isDeaf() bool { return len(o.list) == 0 }

// close waits until all was told, though not for long. An observer that does not return is
// left alone; what it was not told is dropped.
func (o *observers) close() {
	late := time.NewTimer(lastWordsTime)
	defer late.Stop()
	isLate := false
	for _, one := range o.list {
		if !isLate {
			select {
			case <-one.idle():
			case <-late.C:
				isLate = true
			}
		}
		if left := one.close(); left > 0 {
			o.log.Warn("an observer was not told everything, because it is slow", zap.Int("events", left))
		}
	}
}

// observed is an observer with what it has not been told yet. A goroutine tells it, which
// is there only as long as there is something to tell.
type observed struct {
	Observer
	log    *zap.Logger
	warned refrain

	mu      sync.Mutex
	queue   []func(*Observer)
	missed  int           // events, since the queue was full
	working chan struct{} // closed when the goroutine ends; nil if there is none
	closed  bool
}

func (o *observed) add(event func(*Observer)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if len(o.queue) >= maxEvents {
		o.missed++
		return
	}
	if missed := o.missed; missed > 0 {
		o.missed = 0
		o.queue = append(o.queue, func(to *Observer) {
			if to.Missed != nil {
				to.Missed(MissedEvent{Event: Event{Time: time.Now()}, Events: missed})
			}
		})
	}
	o.queue = append(o.queue, event)
	if o.working == nil {
		o.working = make(chan struct{})
		go o.work()
	}
}

// work tells what is queued. Where a function of the observer ends this goroutine
// (runtime.Goexit), another one goes on.
func (o *observed) work() {
	isThrough := false
	defer func() {
		if !isThrough {
			go o.work()
		}
	}()
	for event := o.next(); event != nil; event = o.next() {
		o.call(event)
	}
	isThrough = true
}

// next takes what is to be told next. It is nil if there is nothing more: work is over
// then.
func (o *observed) next() func(*Observer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		close(o.working)
		o.working = nil
		return nil
	}
	event := o.queue[0]
	o.queue = o.queue[1:]
	return event
}

// call tells one event. A panic is logged, but seldom.
func (o *observed) call(event func(*Observer)) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if n := o.warned.add(1); n > 0 {
			o.log.Error("an observer panicked", zap.Any("panic", v), zap.Int("times", n), zap.ByteString("stack", debug.Stack()))
		}
	}()
	event(&o.Observer)
}

// idle is closed when all was told.
func (o *observed) idle() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.working != nil {
		return o.working
	}
	none := make(chan struct{})
	close(none)
	return none
}

// close drops what was not told, and returns how much that is.
func (o *observed) close() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	left := len(o.queue) + o.missed
	o.closed, o.queue, o.missed = true, nil, 0
	return left
}
