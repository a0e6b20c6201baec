package jobfile

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

// keeper keeps one job of the files running here. Its goroutine owns all of it but done, asks
// and stop.
//
//	       fails: again, with a back-off
//	           ┌────┐
//	           ▼    │          ends by itself
//	──► to be started ◄──────────────────────────┐
//	           │                                 │
//	           ▼                                 │
//	        running ──► an operator removed the job, or its instance: ended
//	           │ ▲                                 until the files say something else
//	           ▼ │
//	 a change of the files: is put in force, or is refused as too old
type keeper struct {
	app   *App
	name  string
	after <-chan struct{} // nil, or closed when an earlier keeper of the job has ended
	stop  context.CancelFunc
	asks  chan ask      // has room for one
	done  chan struct{} // closed when the job has ended here

	want      *declared
	scheduler *job.Scheduler // nil if the job does not run
	inForce   *declared      // what the job was started with, or was changed to
	isRunners bool           // the runner has started it
	ended     error          // why the job is not started again; nil if it is
	refused   error          // why want is not put in force; nil if it is, or is to be
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
)

func (k *keeper) run(ctx context.Context, first ask) {
	defer close(k.done)
	defer k.app.setFault(k.name, nil)
	defer k.leave(ctx)
	if k.after != nil {
		<-k.after // it drains, for a bounded time
	}
	next, pause := first, firstPause
	k.want = first.want
	for {
		did, err := k.step(ctx)
		if ctx.Err() != nil {
			return // what is left to say does not matter any more
		}
		k.app.setFault(k.name, err)
		if next.reply != nil {
			next.reply <- reply{did, err}
		}
		next = ask{}
		var again <-chan time.Time
		if err == nil {
			pause = firstPause
		} else if k.ended == nil && k.refused == nil {
			again = time.After(pause/2 + rand.N(pause/2))
			pause = min(2*pause, lastPause)
		}
		select {
		case <-ctx.Done():
			return
		case next = <-k.asks:
			if !k.want.is(next.want) {
				k.ended = nil
			}
			k.want, pause = next.want, firstPause
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

// step brings the job one step nearer to what the files say. An error is tried again.
func (k *keeper) step(ctx context.Context) (did, error) {
	if k.scheduler != nil {
		select {
		case <-k.scheduler.Done():
			k.look(ctx)
		default:
			if k.inForce.work != k.want.work {
				k.leave(ctx)
			}
		}
	}
	if k.ended != nil {
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

// look asks why the job has stopped by itself.
func (k *keeper) look(ctx context.Context) {
	err := k.scheduler.Err()
	k.leave(ctx)
	switch {
	case err == nil && k.isRunners: // the runner shuts down what was created anew
	case err == nil:
		err = errors.New("the program has shut it down")
		fallthrough
	case errors.Is(err, job.ErrJobRemoved), errors.Is(err, job.ErrInstanceRemoved):
		k.ended = k.wrong("does not run any more, until something is changed here, or the process starts anew", err)
	default:
		k.app.log.Error("a job has stopped, and starts again", slog.String("job", k.name), slog.Any("error", err))
	}
}

// leave ends the job here, if it runs, with the node's time to drain. Its context has often
// ended already.
func (k *keeper) leave(ctx context.Context) {
	if k.scheduler == nil {
		return
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.app.drain)
	defer cancel()
	if err := k.scheduler.Shutdown(drain); err != nil {
		k.app.log.Warn("a job was shut down with an error", slog.String("job", k.name), slog.Any("error", err))
	}
	k.scheduler = nil
}

// start starts the job.
func (k *keeper) start(ctx context.Context) (did, error) {
	begin := k.app.node.Schedule
	if k.want.config.Cron == "" {
		begin = k.app.node.OneOff
	}
	s, err := begin(ctx, k.want.config, k.app.file.handler(k.want), k.app.jobOptions(k.want)...)
	if errors.Is(err, job.ErrJobTwice) && k.app.runner != nil {
		// The runner was faster: it has found the job in the registry, and goes by what stands there.
		if k.scheduler = k.app.node.Job(k.name); k.scheduler != nil {
			k.inForce, k.isRunners = &declared{work: k.want.work}, true
			return k.change(ctx)
		}
	}
	if err != nil {
		return nothing, k.wrong("is not started", err)
	}
	k.scheduler, k.inForce, k.isRunners = s, k.want, false
	return started, nil
}
