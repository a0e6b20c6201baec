package trace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// Recorder gives a sink what happens to jobs. Its methods may be called from any goroutine.
//
//	r, err := trace.New(sink, trace.Options{Slog: logger})
//	…
//	n, err := job.NewNode(reg, job.NodeConfig{Options: []job.Option{r.Option()}})
//	…
//	err = n.Shutdown(drain)
//	err = r.Close(drain) // before the sink's database is closed
type Recorder struct {
	sink    Sink
	options Options

	closing context.Context // ends when Close is called
	end     context.CancelFunc
	hurry   context.Context // ends when Close has no more time
	noTime  context.CancelFunc
	wake    chan struct{} // has one when the goroutine has something to do
	done    chan struct{} // closed when it has ended

	// Of the goroutine.
	ids    ids
	atOnce int // how many events and lines the sink is given at a time, at most
	packer packer
	drops  drops

	mu     sync.Mutex
	queue  queue
	stats  Stats
	hangs  bool               // the sink had not returned when the goroutine ended
	cut    map[string]*runLog // of executions that have written too much, by task id
	closed bool
	late   sync.Once // the log is told of the first event that comes then
}

// New returns a recorder, and starts its goroutine: Close ends it. The sink need not work yet.
func New(sink Sink, o Options) (*Recorder, error) {
	if sink == nil {
		return nil, errors.New("trace: a sink is needed")
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Recorder{
		sink: sink, options: o,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
		queue: newQueue(o), atOnce: maxAtOnce, cut: map[string]*runLog{},
	}
	r.closing, r.end = context.WithCancel(context.Background())
	r.hurry, r.noTime = context.WithCancel(context.Background())
	go r.keep()
	return r, nil
}

// Option makes a job, or all jobs of a node, tell the recorder what happens. A job that gets it twice,
// from its node, too, tells everything once.
func (r *Recorder) Option() job.Option { return job.Options(r, r.Only(Filter{})) }

// Only is Option for the jobs of a filter. A job that gets several of them tells everything as often.
func (r *Recorder) Only(f Filter) job.Option {
	observer := job.WithObserver(Only(f, r.Observer()))
	if r.options.Lines.Off {
		return observer
	}
	return job.Options(nil, observer, job.WithScope(func(ctx context.Context, e job.Event) (context.Context, func(job.Event)) {
		if f.Has(e.JobName) {
			ctx = job.LogTo(ctx, r.LogHandler(e))
		}
		return ctx, nil
	}))
}

// Stats says how the recorder stands.
func (r *Recorder) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Queued, s.Bytes, s.Overflowed = r.queue.held, r.queue.bytes, r.queue.dropped
	return s
}

// Close gives the sink what waits, until ctx ends. Then it drops what is left, ends the context
// of a write that is under way, and waits for a second at most for that to return. It returns an
// error if something was dropped. Call it when the jobs have ended: what is told later is dropped,
// too, which Options.Slog is told once. It may be called again.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.end()
	select {
	case <-r.done:
	case <-ctx.Done():
		r.noTime()
		select {
		case <-r.done:
		case <-time.After(2 * leaveTime): // Options.Slog does not return
			return errors.New("trace: close: the logger has not returned; it is not waited for")
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	if left := r.stats.Left; left != (Count{}) {
		errs = append(errs, fmt.Errorf("trace: close: %d events and %d lines were dropped, because the sink had not kept them, or because they came later: %w", left.Events, left.Lines, r.why(errors.New("there was no time"))))
	}
	if r.hangs {
		errs = append(errs, errors.New("trace: close: the sink has not returned, although its context has ended; it is not waited for"))
	}
	return errors.Join(errs...)
}

// why is the last error of a sink that fails, or else what is given.
func (r *Recorder) why(otherwise error) error {
	if r.stats.FailingSince.IsZero() {
		return otherwise
	}
	return r.stats.LastError
}

// event queues an event.
func (r *Recorder) event(e Event) {
	if r.add(Count{Events: 1}, e.size(), func(c *chunk) { c.Events = append(c.Events, e) }) {
		return
	}
	r.late.Do(func() {
		r.say(slog.LevelWarn, "trace: the recorder was closed before a job had ended; what happens now is dropped", slog.String("job", e.Job), slog.String("event", e.Kind.String()))
	})
}

// line queues a line.
func (r *Recorder) line(l Line) {
	r.add(Count{Lines: 1}, l.size(), func(c *chunk) { c.Lines = append(c.Lines, l) })
}

// add queues something for the sink, and reports false if the recorder is closed. It never waits for
// the sink.
func (r *Recorder) add(n Count, bytes int, to func(*chunk)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Told = r.stats.Told.plus(n)
	if r.closed {
		r.stats.Left = r.stats.Left.plus(n)
		return false
	}
	now := time.Now()
	c := r.queue.open(now)
	to(c)
	if !r.queue.added(c, n, bytes, now) {
		return true
	}
	select {
	case r.wake <- struct{}{}:
	default: // it is awake
	}
	return true
}
