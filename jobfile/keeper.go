package jobfile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
)

// keeper keeps one job of the files running here. Its goroutine owns all of it but asks, done and
// stop.
//
//	       fails: again, with a back-off
//	           ┌────┐
//	           ▼    │        it cannot go on
//	──► to be started ◄─────────────────────────┐
//	           │                                │
//	           ▼                                │
//	        running ──► an operator removed the job, or its instance; it has expired: ended,
//	           │ ▲                              until the files say something else
//	           ▼ │
//	 a change of the files: is put in force, or is refused
type keeper struct {
	app   *App
	name  string
	after <-chan struct{} // nil, or closed when an earlier keeper of the job has ended
	stop  context.CancelFunc
	asks  chan ask      // has room for one
	done  chan struct{} // closed when the job has ended here

	want      *declared
	scheduler *job.Scheduler // nil if the job does not run
	since     clocks.Moment  // when it was started
	inForce   *declared      // what it was started with, or was changed to
	isRunners bool           // the runner has started it

	isOver  bool          // the job is not started again,
	ended   error         // because of that; nil if it has expired
	refused error         // why want is not put in force; nil if it is, or is to be
	backoff sleep.Backoff // after failures
}

// ask says what the files have for the job now.
type ask struct {
	want  *declared
	reply chan reply // has room for one
}

// reply says what came of it.
type reply struct {
	did did
	err error
}

// did is what a keeper has done.
type did int

const (
	nothing did = iota
	started
	changed
)

// Bounds of a keeper.
const (
	startTime  = time.Minute // of one attempt to start, or to change
	firstPause = time.Second
	lastPause  = time.Minute
	soundAfter = time.Minute // how long a job has to run until earlier failures count no more
)

func (k *keeper) run(ctx context.Context, next ask) {
	defer close(k.done)
	defer k.app.forget(subject{job: k.name})
	defer k.leave()
	if k.after != nil {
		<-k.after // it drains, for a bounded time
	}
	k.want, k.backoff = next.want, sleep.Backoff{Min: firstPause, Max: lastPause}
	for {
		did, err := k.step(ctx)
		if ctx.Err() != nil {
			return // what is left to say does not matter any more
		}
		k.app.setFault(subject{job: k.name}, err)
		if next.reply != nil {
			next.reply <- reply{did, err}
		}
		next = ask{}
		var again <-chan time.Time
		if err != nil && !k.isOver && k.refused == nil {
			again = time.After(k.backoff.Next())
		}
		select {
		case <-ctx.Done():
			return
		case next = <-k.asks:
			if !k.want.is(next.want) {
				k.isOver = false
			}
			k.want = next.want
			k.backoff.Reset()
		case <-again:
		case <-k.stopped():
		}
	}
}

// is reports whether two declarations mean the same.
func (d *declared) is(o *declared) bool {
	return d.work == o.work && d.config.Equal(o.config)
}

// stopped is closed when the job that runs has stopped by itself.
func (k *keeper) stopped() <-chan struct{} {
	if k.scheduler == nil {
		return nil
	}
	return k.scheduler.Done()
}

// step brings the job one step nearer to what the files say. An error is tried again, unless the
// job is over, or the change is refused.
func (k *keeper) step(ctx context.Context) (did, error) {
	if k.scheduler != nil {
		select {
		case <-k.scheduler.Done():
			if err := k.look(); err != nil {
				return nothing, err
			}
		default:
			if k.inForce.work != k.want.work {
				k.leave()
			}
		}
	}
	if k.isOver {
		return nothing, k.ended
	}
	select {
	case k.app.gate <- struct{}{}:
		defer func() { <-k.app.gate }()
	case <-ctx.Done():
		return nothing, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if k.scheduler == nil {
		return k.start(ctx)
	}
	return k.change(ctx)
}

// look asks why the job has stopped by itself. The error is one after which it is started again.
func (k *keeper) look() error {
	err := k.scheduler.Err()
	if clocks.Since(k.since) >= soundAfter {
		k.backoff.Reset()
	}
	k.leave()
	switch {
	case err == nil && k.isRunners: // the runner shuts down what was created anew
	case err == nil:
		k.isOver, k.ended = true, k.wrong("does not run any more, because the program has shut it down", nil)
	case errors.Is(err, job.ErrJobRemoved) && k.want.config.Expiry.Remove:
		k.expire()
	case errors.Is(err, job.ErrJobRemoved), errors.Is(err, job.ErrInstanceRemoved):
		k.isOver, k.ended = true, k.wrong("is not started from here again, until something is changed here, or the process starts anew", err)
	default:
		return k.wrong("has stopped, and is to start again", err)
	}
	return nil
}

// expire notes that the job was removed, as the files want it.
func (k *keeper) expire() {
	k.isOver, k.ended = true, nil
	k.app.log.Info("a job has expired, and is removed", slog.String("job", k.name))
}

// leave ends the job here, if it runs, with the node's time to drain.
func (k *keeper) leave() {
	if k.scheduler == nil {
		return
	}
	drain, cancel := context.WithTimeout(k.app.hurry, k.app.drain)
	defer cancel()
	if err := k.scheduler.Shutdown(drain); err != nil {
		k.app.log.Warn("a job was shut down with an error", slog.String("job", k.name), slog.Any("error", err))
	}
	k.scheduler = nil
}

// start starts the job.
func (k *keeper) start(ctx context.Context) (did, error) {
	k.refused = nil
	if err := k.check(); err != nil { // the same comes of the start, but also for what the registry has
		return nothing, wrongAt(k.want.placeOf(err), "is not started", err)
	}
	s, err := k.app.node.Schedule(ctx, k.want.config, k.app.handler(k.want), k.want.options()...)
	switch {
	case err == nil:
		k.scheduler, k.since, k.inForce, k.isRunners = s, clocks.Now(), k.want, false
		return started, nil
	case errors.Is(err, job.ErrJobRemoved) && k.want.config.Expiry.Remove:
		k.expire()
		return nothing, nil
	case errors.Is(err, job.ErrJobTwice) && k.app.runner != nil:
		// The runner was faster: it has found the job in the registry, and goes by what stands there.
		if k.scheduler = k.app.node.Job(k.name); k.scheduler != nil {
			k.since, k.inForce, k.isRunners = clocks.Now(), &declared{work: k.want.work}, true
			return k.change(ctx)
		}
	}
	return nothing, k.wrong("is not started", err)
}

// wrong says where the files have the job. why may be nil.
func (k *keeper) wrong(what string, why error) error { return wrongAt(k.want.source.at, what, why) }

func wrongAt(at place, what string, why error) error {
	if why == nil {
		return fmt.Errorf("%s: %s", at, what)
	}
	return fmt.Errorf("%s: %s: %w", at, what, why)
}
