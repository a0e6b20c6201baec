package runner

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

// What is wrong with a start, beside the errors of the host.
var (
	// ErrEnded is why a start has no result: something that it called has called runtime.Goexit.
	ErrEnded = errors.New("job: the start was ended by runtime.Goexit in what it called")
	// ErrSlowStart is why a start is given up.
	ErrSlowStart = fmt.Errorf("job: not registered within %v", joinPatience)
	// ErrStuck is what is wrong with a start that cannot be given up.
	ErrStuck = fmt.Errorf("job: the start has taken %v: what it called, such as the type of the job, does not return", stuckAfter)
)

// task is something that takes time, and that a Runner does in a goroutine of its own: it starts a job, or
// writes its fault into the tree for operators.
type task struct {
	job     *served // only its name may be read
	do      action
	offer   string        // start
	fault   jobtype.Fault // report
	node    written       // report: what faults/{id} has
	session coord.Session // report
	// The loop has been told that the start hangs; that the task is done.
	isStuck, isDone bool
}

// result is what has become of a task.
type result struct {
	*task
	scheduler Scheduler
	err       error
}

// run does a task. Whatever ends it, the loop gets an answer.
func (r *Server) run(ctx context.Context, e *task) {
	a := result{task: e, err: ErrEnded}
	if e.do == start {
		hangs := time.AfterFunc(stuckAfter, func() { r.inbox.write(func(n *news) { n.stuck = append(n.stuck, e) }) })
		defer hangs.Stop()
	}
	defer func() { r.inbox.write(func(n *news) { n.answers = append(n.answers, a) }) }()
	name := e.job.name
	if e.do == report {
		a.node, a.err = writeReport(ctx, r.Registry, jobtree.Job(name), r.Process.ID(e.session.ID()), e.session, e.fault, e.node)
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, joinPatience, ErrSlowStart)
	defer cancel()
	a.scheduler, a.err = r.host.Start(ctx, name, e.offer)
}

// removeReports removes nodes faults/{id}, as far as the store lets it. What is left goes with the session.
func (r *Server) removeReports(ops []coord.Op) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	const most = coord.MaxOps / 2 // a removal counts twice
	for len(ops) > 0 {
		n := min(len(ops), most)
		if _, err := r.Registry.Commit(ctx, ops[:n]...); err != nil {
			return
		}
		ops = ops[n:]
	}
}

func (r *Server) removeReport(name string, session coord.SessionID) coord.Op {
	return coord.DeleteTree(jobtree.Job(name).Faults(r.Process.ID(session)))
}
