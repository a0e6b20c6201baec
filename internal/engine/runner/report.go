package runner

import (
	"context"
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/either"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// maxReportPause bounds the time between two attempts to write faults/{id} that fail.
const maxReportPause = time.Minute

const (
	// reportEvery is the shortest time between two writes of faults/{id}.
	reportEvery = 5 * time.Second
	// storeTime bounds each attempt to write or remove it.
	storeTime = 5 * time.Second
)

// written is what a Runner has written into the node faults/{id} of a job that it cannot serve, for
// operators. The id is that of the process, because there is no instance.
type written struct {
	session coord.SessionID // in which something was written; 0 if nothing was
	isThere bool            // as far as is known
	text    string          // what it says; empty if that is unknown
	due     clocks.Moment   // when it may be written again
	pause   time.Duration   // after the next failure
}

// textOf returns what a fault says.
func textOf(f jobtype.Fault) string {
	if f.Err == nil {
		return ""
	}
	return f.Error()
}

// differs reports whether the node has to be written, or removed, to show a fault.
func (t written) differs(f jobtype.Fault, session coord.SessionID) bool {
	if t.session != session {
		return f.Err != nil && session != 0 // what was written has gone with its session
	}
	return t.session != 0 && (f.Err == nil || t.text != textOf(f))
}

// wait returns how long to wait until the node shows a fault. That a fault is over shows at once.
func (t written) wait(f jobtype.Fault, now clocks.Moment) time.Duration {
	if f.Err == nil && t.pause == 0 {
		return 0
	}
	return t.due.Sub(now)
}

// writeReport makes the node show a fault, and removes it if there is none. It returns what stands there then.
func writeReport(ctx context.Context, reg coord.Registry, job jobtree.Job, id string, session coord.Session, f jobtype.Fault, before written) (written, error) {
	ctx, end := either.Context(ctx, session.Context()) // the context of the session keeps a late commit out of a later one
	defer end()
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if before.session != session.ID() {
		before = written{session: session.ID()}
	}
	ops := []coord.Op{coord.DeleteTree(job.Faults(id))}
	if f.Err != nil {
		document := jobtree.EncodeFaults([]jobtree.FaultRecord{{Kind: f.Kind.String(), Cause: f.Err.Error(), Since: f.Since}})
		write := coord.CreateEphemeral(job.Faults(id), document)
		if before.isThere {
			write = coord.Set(write.Path, document)
		}
		ops = []coord.Op{coord.Exists(job.Config()), write}
	}
	_, err := reg.Commit(ctx, ops...)
	if err == nil && f.Err == nil {
		return written{}, nil
	}
	now := clocks.Now()
	if err == nil {
		return written{session: session.ID(), isThere: true, text: textOf(f), due: now.Add(reportEvery)}, nil
	}
	if conflict, ok := errors.AsType[*coord.ConflictError](err); ok && conflict.Op.Kind != coord.OpExists {
		before.isThere = !before.isThere // an answer was lost, or an external writer has removed it
	}
	before.text = ""
	before.pause = min(max(2*before.pause, firstRestart), maxReportPause)
	before.due = now.Add(before.pause)
	return before, err
}
