package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

const (
	// joinPatience bounds the start of a job in a Runner, as far as that waits for the store.
	joinPatience = 30 * time.Second
	// stuckAfter is how long a start takes until it counts no more among those that are under way.
	stuckAfter = 2 * joinPatience
)

var (
	// errSlowStart is why a start is given up.
	errSlowStart = fmt.Errorf("job: not registered within %v", joinPatience)
	// errStuck is what is wrong with a start that cannot be given up.
	errStuck = fmt.Errorf("job: the start has taken %v: what it called, such as the type of the job, does not return", stuckAfter)
)

// errand is something that a Runner does for a job while its loop goes on: it starts the job, or
// tells operators of its fault.
type errand struct {
	job     *served // only its name may be read
	do      turn
	offer   string        // starts
	says    Fault         // tells
	told    tale          // tells: what stands there
	session coord.Session // tells
	// The loop has been told that the start hangs; that the errand is done.
	isStuck, isDone bool
}

// answered is what has become of an errand.
type answered struct {
	*errand
	scheduler *Scheduler
	err       error
}

// run does an errand. Whatever ends it, the loop gets an answer.
func (r *rounds) run(ctx context.Context, e *errand) {
	a := answered{errand: e, err: errEnded}
	if e.do == starts {
		hangs := time.AfterFunc(stuckAfter, func() { r.mail.write(func(l *letters) { l.stuck = append(l.stuck, e) }) })
		defer hangs.Stop()
	}
	defer func() { r.mail.write(func(l *letters) { l.answers = append(l.answers, a) }) }()
	name := e.job.name
	a.err = guarded(func() (err error) {
		if e.do == tells {
			a.told, err = tell(ctx, r.reg, jobtree.Job(name), r.sign.id(e.session.ID()), e.session, e.says, e.told)
			return err
		}
		ctx, cancel := context.WithTimeoutCause(ctx, joinPatience, errSlowStart)
		defer cancel()
		h, opts := r.work(e.offer)
		a.scheduler, err = r.join(ctx, name, h, opts)
		return err
	})
}

// untell removes nodes in which operators were told of faults, as far as the store lets it. What
// is left goes with the session.
func (r *rounds) untell(ops []coord.Op) {
	ctx, cancel := context.WithTimeout(context.Background(), partingTime)
	defer cancel()
	const most = coord.MaxOps / 2 // a removal counts twice
	for len(ops) > 0 {
		n := min(len(ops), most)
		if _, err := r.reg.Commit(ctx, ops[:n]...); err != nil {
			return
		}
		ops = ops[n:]
	}
}

func (r *rounds) untold(name string, session coord.SessionID) coord.Op {
	return coord.DeleteTree(jobtree.Job(name).Faults(r.sign.id(session)))
}

// faultKindOf returns the kind of fault that keeps a job from being served.
func faultKindOf(err error) FaultKind {
	if errors.Is(err, coord.ErrDenied) || errors.Is(err, coord.ErrTooLarge) { // whatever the scheduler has called it
		return jobtype.FaultTree
	}
	if f, ok := errors.AsType[Fault](err); ok {
		return f.Kind
	}
	_, isPanic := errors.AsType[*PanicError](err)
	switch {
	case isAway(err), errors.Is(err, coord.ErrUnknownOutcome), errors.Is(err, coord.ErrConflict), errors.Is(err, errSlowStart):
		return jobtype.FaultStore
	case isPanic, errors.Is(err, errEnded), errors.Is(err, errStuck):
		return jobtype.FaultStarvation
	}
	return jobtype.FaultConfig
}
