package job

import (
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// maxEvents bounds the events that wait for an observer.
	maxEvents = 10_000
	// lastWordsTime is how long the end of a scheduler waits for its observers.
	lastWordsTime = time.Second
)

// observers are the observers of a scheduler. Any goroutine may tell them something.
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

// tell queues an event for all observers.
func (o *observers) tell(event func(*Observer)) {
	for _, one := range o.list {
		one.add(event)
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
			o.log.Warn("an observer was not told everything, because it is slow", zap.Int("events", left))
		}
	}
}

// observed is an observer with the events that it has not been told yet. A goroutine tells
// it; the goroutine is there only while there are events.
type observed struct {
	Observer
	log    *zap.Logger
	warned refrain

	mu      sync.Mutex
	queue   []func(*Observer)
	missed  int           // events that were dropped because the queue was full
	working chan struct{} // closed when the goroutine ends; nil if there is none
	closed  bool
}

// add queues an event, or counts it as missed if the queue is full.
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

// call tells one event. If the observer panics, that is logged, but seldom.
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
	o.closed, o.queue, o.missed = true, nil, 0
	return left
}
