package job

import (
	"context"
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// lastTelling bounds the time between two attempts to write faults/{id} that fail.
const lastTelling = time.Minute

// tale is what a Runner has written into the node faults/{id} of a job that it cannot serve, for
// operators. The id is that of the process, because there is no instance.
type tale struct {
	session coord.SessionID // in which something was written; 0 if nothing was
	isThere bool            // as far as is known
	text    string          // what it says; empty if that is unknown
	due     clocks.Moment   // when it may be written again
	pause   time.Duration   // after the next failure
}

// textOf returns what a fault says.
func textOf(f Fault) string {
	if f.Err == nil {
		return ""
	}
	return f.Error()
}

// differs reports whether the node has to be written, or removed, to show a fault.
func (t tale) differs(f Fault, session coord.SessionID) bool {
	if t.session != session {
		return f.Err != nil && session != 0 // what was written has gone with its session
	}
	return t.session != 0 && (f.Err == nil || t.text != textOf(f))
}

// wait returns how long to wait until the node shows a fault. That a fault is over shows at once.
func (t tale) wait(f Fault, now clocks.Moment) time.Duration {
	if f.Err == nil && t.pause == 0 {
		return 0
	}
	return t.due.Sub(now)
}

// tell makes the node show a fault, and removes it if there is none. It returns what stands there
// then.
func tell(ctx context.Context, reg coord.Registry, job jobtree.Job, id string, session coord.Session, f Fault, before tale) (tale, error) {
	ctx, end := within(ctx, session.Context()) // the context of the session keeps a late commit out of a later one
	defer end()
	ctx, cancel := context.WithTimeout(ctx, partingTime)
	defer cancel()
	if before.session != session.ID() {
		before = tale{session: session.ID()}
	}
	ops := []coord.Op{coord.DeleteTree(job.Faults(id))}
	if f.Err != nil {
		document, err := jobtree.EncodeFaults([]jobtree.FaultRecord{{Kind: f.Kind.String(), Cause: f.Err.Error(), Since: f.Since}})
		if err != nil {
			return before, err
		}
		write := coord.CreateEphemeral(job.Faults(id), document)
		if before.isThere {
			write = coord.Set(write.Path, document)
		}
		ops = []coord.Op{coord.Exists(job.Config()), write}
	}
	_, err := reg.Commit(ctx, ops...)
	if err == nil && f.Err == nil {
		return tale{}, nil
	}
	now := clocks.Now()
	if err == nil {
		return tale{session: session.ID(), isThere: true, text: textOf(f), due: now.Add(tellEvery)}, nil
	}
	if conflict, ok := errors.AsType[*coord.ConflictError](err); ok && conflict.Op.Kind != coord.OpExists {
		before.isThere = !before.isThere // an answer was lost, or a stranger has removed it
	}
	before.text = ""
	before.pause = min(max(2*before.pause, firstRestart), lastTelling)
	before.due = now.Add(before.pause)
	return before, err
}
