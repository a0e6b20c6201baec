package job

import (
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

const (
	// maxEvents bounds the events that wait for an observer.
	maxEvents = 10_000
	// maxHeld bounds the outputs of executions, and the texts of their errors, that wait for an
	// observer, in bytes.
	maxHeld = 16 << 20
	// maxKeptError is how much is kept of the text of an error for which there is no room, in bytes.
	maxKeptError = 500
	// lastWordsTime is how long the end of a scheduler waits for its observers.
	lastWordsTime = time.Second
)

// observers are the observers of a scheduler. Any goroutine may tell them something.
type observers struct {
	list []*observed
	log  *zap.Logger
}

// newObservers returns observers that are told nothing yet. event is what an event of that
// moment begins with.
func newObservers(list []Observer, event func() Event, log *zap.Logger) *observers {
	o := &observers{log: log}
	for _, one := range list {
		o.list = append(o.list, &observed{Observer: one, event: event, log: log})
	}
	return o
}

// tellAll queues an event for all observers that have a function for it.
func tellAll[E any](o *observers, event E, of func(*Observer) func(E)) {
	for _, one := range o.list {
		if told := of(&one.Observer); told != nil {
			one.add(news{tell: func() { told(event) }})
		}
	}
}

// news is an event that waits for an observer.
type news struct {
	tell func()
	// size is how many bytes of output and of an error's text it holds. Where they would be too
	// many, without is told instead.
	size    int
	without func()
}

// tellFinished queues the end of an execution for all observers, for each with the output, and with
// an error that has a long text, only if there is room for it.
func (o *observers) tellFinished(event FinishedEvent, errorText string) {
	without := event
	without.Output, without.Dropped = nil, event.Output != nil
	if len(errorText) > maxKeptError {
		without.Err = errors.New(brief.Cut(errorText, maxKeptError)) // a text of its own
	}
	for _, one := range o.list {
		if told := one.Finished; told != nil {
			one.add(news{tell: func() { told(event) }, size: len(event.Output) + len(errorText), without: func() { told(without) }})
		}
	}
}

// isDeaf reports whether there are no observers.
func (o *observers) isDeaf() bool { return len(o.list) == 0 }

// close waits until all was told, for lastWordsTime at most. What an observer was not told by
// then is dropped. A function of it that does not return is not waited for.
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
			say(func() {
				o.log.Warn("an observer was not told everything, because it is slow", zap.Int("events", left))
			})
		}
	}
}

// observed is an observer with the events that it has not been told yet. A goroutine tells
// it; the goroutine is there only while there are events.
type observed struct {
	Observer
	event  func() Event
	log    *zap.Logger
	warned refrain

	mu      sync.Mutex
	queue   []news
	held    int           // bytes that the queue holds
	missed  int           // events that were dropped because the queue was full
	working chan struct{} // closed when the goroutine ends; nil if there is none
	closed  bool
}

// add queues an event, or counts it as missed if the queue is full.
func (o *observed) add(event news) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if len(o.queue) >= maxEvents {
		o.missed++
		return
	}
	if o.missed > 0 {
		o.queue = append(o.queue, news{tell: o.missing()})
	}
	if o.held+event.size > maxHeld {
		event = news{tell: event.without}
	}
	o.held += event.size
	o.queue = append(o.queue, event)
	if o.working == nil {
		o.working = make(chan struct{})
		go o.work()
	}
}

// missing returns what tells of the events that were dropped until now.
func (o *observed) missing() func() {
	event := MissedEvent{o.event(), o.missed}
	o.missed = 0
	return func() {
		if o.Missed != nil {
			o.Missed(event)
		}
	}
}

// work tells what is queued. If a function of the observer ends this goroutine
// (runtime.Goexit), another goroutine goes on.
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

// next takes the next event out of the queue. It returns nil if there is none; work ends
// then.
func (o *observed) next() func() {
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
	event := o.queue[0]
	o.queue[0] = news{} // the rest of the queue would keep what it holds
	o.queue = o.queue[1:]
	o.held -= event.size
	return event.tell
}

// call tells one event. If the observer panics, that is logged, but seldom.
func (o *observed) call(event func()) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if n := o.warned.add(1); n > 0 {
			stack := debug.Stack()
			say(func() {
				o.log.Error("an observer panicked", zap.Any("panic", v), zap.Int("times", n), zap.ByteString("stack", stack))
			})
		}
	}()
	event()
}

// idle returns a channel that is closed when all was told.
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

// close drops what was not told, and returns how many events that is.
func (o *observed) close() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	left := len(o.queue) + o.missed
	o.closed, o.queue, o.missed, o.held = true, nil, 0, 0
	return left
}
