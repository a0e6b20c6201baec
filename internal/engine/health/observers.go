package health

import (
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	// maxEvents bounds the events that wait for an observer.
	maxEvents = 10_000
	// maxHeld bounds the outputs of executions, and the texts of their errors, that wait for an
	// observer, in bytes.
	maxHeld = 16 << 20
	// maxKeptError is how much is kept of the text of an error for which there is no room, in bytes.
	maxKeptError = 500
	// closeTime is how long the end of a scheduler waits for its observers.
	closeTime = time.Second
)

// Observers are the observers of a scheduler. Any goroutine may tell them something.
type Observers struct {
	list []*observer
	log  *zap.Logger
}

// NewObservers returns observers that were told nothing yet. A nil one is left out.
func NewObservers(list []jobtype.Observer, guard *Guard, log *zap.Logger) *Observers {
	o := &Observers{log: log}
	for _, tell := range list {
		if tell != nil {
			o.list = append(o.list, &observer{tell: tell, guard: guard})
		}
	}
	return o
}

// None reports whether there are no observers.
func (o *Observers) None() bool { return len(o.list) == 0 }

// Tell queues an event for all observers.
func (o *Observers) Tell(e jobtype.Event) { o.TellFinished(e, "") }

// TellFinished queues the end of an execution. Output, and an error whose text is long, are kept for an observer only
// if there is room for them. The method Error is the program's, so the caller gives its text.
func (o *Observers) TellFinished(e jobtype.Event, errorText string) {
	if o.None() {
		return
	}
	shared := e // goes to the heap only if somebody is told
	for _, one := range o.list {
		one.add(queued{event: &shared, size: len(e.Output) + len(errorText), errorText: errorText})
	}
}

// Close waits until all was told, for closeTime at most. What an observer was not told by
// then is dropped. An observer that does not return is not waited for.
func (o *Observers) Close() {
	late := time.NewTimer(closeTime)
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

// queued is an event that waits for an observer.
type queued struct {
	event *jobtype.Event
	// size is how many bytes of output and of an error's text it holds. Where they would be too
	// many, it is told without them.
	size      int
	errorText string
}

// shortened returns the event without its output, and with the beginning of the text of its error only.
func (q queued) shortened() queued {
	e := *q.event
	e.Output, e.Dropped = nil, e.Output != nil
	if len(q.errorText) > maxKeptError {
		e.Err = errors.New(brief.Cut(q.errorText, maxKeptError)) // a text of its own
	}
	return queued{event: &e}
}

// observer is one observer with the events that it has not been told yet. A goroutine tells
// it; the goroutine is there only while there are events.
type observer struct {
	tell  jobtype.Observer
	guard *Guard

	mu      sync.Mutex
	queue   []queued
	held    int            // bytes that the queue holds
	missed  int            // events that were dropped because the queue was full
	last    *jobtype.Event // the newest of those
	working chan struct{}  // closed when the goroutine ends; nil if there is none
	closed  bool
}

// add queues an event, or counts it as missed if the queue is full.
func (o *observer) add(q queued) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if len(o.queue) >= maxEvents {
		o.missed++
		o.last = q.event
		return
	}
	if o.missed > 0 {
		o.queue = append(o.queue, queued{event: o.missing()})
	}
	if o.held+q.size > maxHeld {
		q = q.shortened()
	}
	o.held += q.size
	o.queue = append(o.queue, q)
	if o.working == nil {
		o.working = make(chan struct{})
		go o.work()
	}
}

// missing returns what tells of the events that were dropped until now.
func (o *observer) missing() *jobtype.Event {
	e := &jobtype.Event{Kind: jobtype.EventMissed, Time: o.last.Time, JobName: o.last.JobName, Count: o.missed}
	o.missed = 0
	return e
}

// work tells what is queued. If the observer ends this goroutine (runtime.Goexit), another one goes on.
func (o *observer) work() {
	done := false
	defer func() {
		if !done {
			go o.work()
		}
	}()
	for e := o.next(); e != nil; e = o.next() {
		o.call(*e)
	}
	done = true
}

// next takes the next event out of the queue. It returns nil if there is none; work ends then.
func (o *observer) next() *jobtype.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 && o.missed > 0 {
		return o.missing()
	}
	if len(o.queue) == 0 {
		close(o.working)
		o.working, o.queue = nil, nil
		return nil
	}
	q := o.queue[0]
	o.queue[0] = queued{} // the rest of the queue would keep what it holds
	o.queue = o.queue[1:]
	o.held -= q.size
	return q.event
}

func (o *observer) call(e jobtype.Event) {
	defer o.guard.Catch("an observer")
	o.tell(e)
}

// idle returns a channel that is closed when all was told.
func (o *observer) idle() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.working != nil {
		return o.working
	}
	none := make(chan struct{})
	close(none)
	return none
}

// close drops what was not told, and returns how many events that is.
func (o *observer) close() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	left := len(o.queue) + o.missed
	o.closed, o.queue, o.missed, o.held = true, nil, 0, 0
	return left
}
