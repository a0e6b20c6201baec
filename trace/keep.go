package trace

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
)

const (
	// firstPause and lastPause bound the pauses while the sink fails.
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second
	// maxAtOnce is more than a chunk has: that is one batch.
	maxAtOnce = 1 << 20
	// leaveTime is how long a write may go on when Close has no more time.
	leaveTime = time.Second
)

// keep is the goroutine of a recorder: it gives the sink one chunk after the other.
func (r *Recorder) keep() {
	defer close(r.done)
	for c := r.next(); c != nil; c = r.next() {
		r.settle(c, r.deliver(c))
	}
}

// next waits for a chunk that is due. It returns nil when all is written after Close, or Close has
// no more time.
func (r *Recorder) next() *chunk {
	for {
		c, due := r.take()
		r.tend()
		switch {
		case c != nil:
			return c
		case r.hurry.Err() != nil:
			r.leave()
			return nil
		case due.IsZero() && r.closing.Err() != nil:
			return nil
		case due.IsZero():
			due = time.Now().Add(time.Hour) // something wakes it before
		}
		timer := time.NewTimer(time.Until(due))
		select {
		case <-timer.C:
		case <-r.wake:
		case <-r.closing.Done():
		}
		timer.Stop()
	}
}

// take returns the next chunk if it is due, or else when that will be; see queue.take.
func (r *Recorder) take() (*chunk, time.Time) {
	interval := r.options.Interval
	switch {
	case r.hurry.Err() != nil:
		return nil, time.Time{}
	case r.closing.Err() != nil:
		interval = 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c, due := r.queue.take(time.Now(), interval)
	if c != nil && c.lost != (Count{}) {
		r.stats.Told.Events++ // the event that tells of it
	}
	return c, due
}

// leave drops what waits, because Close has no more time.
func (r *Recorder) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Left = r.stats.Left.plus(r.queue.clear())
}

// settle counts what has become of the chunk in hand. What the sink has not kept is dropped.
func (r *Recorder) settle(c *chunk, kept Count) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue.release(c.has, c.bytes)
	r.stats.Written = r.stats.Written.plus(kept)
	r.stats.Left = r.stats.Left.plus(c.has.minus(kept))
}

// deliver gives a chunk to the sink until that has kept it, and returns how much was kept: less only
// if Close has no more time. The chunk is one batch. If the sink takes too long for that, the next
// batches are half as long, again and again; they grow when it takes little time.
func (r *Recorder) deliver(c *chunk) (kept Count) {
	rest, err := r.batch(c)
	if err != nil {
		r.fails(err) // not to be expected: it was packed here
		return kept
	}
	backoff := sleep.Backoff{Min: firstPause, Max: lastPause}
	for rest.count() != (Count{}) {
		b := rest.first(r.atOnce)
		begin := time.Now()
		late, err := r.write(b)
		switch {
		case err == nil:
			r.works()
			kept, rest = kept.plus(b.count()), rest.without(b)
			backoff.Reset()
			if time.Since(begin) < r.options.WriteTimeout/4 {
				r.atOnce = min(2*r.atOnce, maxAtOnce)
			}
			continue
		case r.hurry.Err() != nil:
			return kept
		case late:
			r.atOnce = max(b.count().all()/2, 1)
		}
		r.fails(err)
		r.pause(backoff.Next())
	}
	return kept
}

// batch returns what the sink is given of a chunk.
func (r *Recorder) batch(c *chunk) (Batch, error) {
	b := c.Batch
	if c.packed != nil {
		var err error
		if b, err = unpack(c.packed); err != nil {
			return Batch{}, err
		}
	}
	if c.lost != (Count{}) {
		b.Events = slices.Insert(b.Events, 0, c.missed())
	}
	for i := range b.Events {
		b.Events[i].ID = r.ids.next(b.Events[i].Time)
	}
	return b, nil
}

// write calls the sink once, and reports whether that took too long. If the sink does not return in
// time, it waits on, because no other call may come meanwhile; but not for ever if Close has no more
// time.
func (r *Recorder) write(b Batch) (late bool, err error) {
	ctx, cancel := context.WithTimeoutCause(r.hurry, r.options.WriteTimeout, errTimeout)
	defer cancel()
	written := make(chan error, 1)
	go func() {
		err := errGoexit
		defer func() { written <- err }()
		err = guarded(func() error { return r.sink.Write(ctx, b) })
	}()
	timer := time.NewTimer(r.options.WriteTimeout + leaveTime)
	defer timer.Stop()
	hurry := r.hurry.Done()
	for {
		select {
		case err := <-written:
			return ctx.Err() != nil, err
		case <-timer.C:
			if r.hurry.Err() != nil {
				r.mu.Lock()
				r.hangs = true
				r.mu.Unlock()
				return true, errHangs
			}
			r.fails(fmt.Errorf("%w after %v, and does not heed the end of its context", errHangs, r.options.WriteTimeout))
		case <-hurry:
			hurry = nil
			timer.Reset(leaveTime)
		case <-r.wake:
			r.tend()
		}
	}
}

var (
	errTimeout = errors.New("trace: the sink takes too long")
	errHangs   = errors.New("trace: the sink has not returned")
	errGoexit  = errors.New("trace: the sink called runtime.Goexit")
)

// guarded makes an error of a panic.
func guarded(call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &job.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return call()
}

// pause waits before the sink is tried again. Close shortens pauses.
func (r *Recorder) pause(d time.Duration) {
	closing := r.closing.Done()
	if r.closing.Err() != nil {
		closing, d = nil, min(d, firstPause)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case <-closing:
			return
		case <-r.hurry.Done():
			return
		case <-r.wake:
			r.tend()
		}
	}
}

// tend does what is to be done while others add to the queue: it packs what waits for long, and
// logs that something is dropped.
func (r *Recorder) tend() {
	r.mu.Lock()
	c := r.queue.packable()
	r.mu.Unlock()
	for c != nil {
		packed := r.packer.pack(c.Batch) // nobody changes a full chunk
		r.mu.Lock()
		r.queue.replace(c, packed)
		c = r.queue.packable()
		r.mu.Unlock()
	}
	r.tellDrops()
}
