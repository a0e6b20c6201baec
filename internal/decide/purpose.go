package decide

import (
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// purpose is what an item was claimed for: a tick, or a request. A failover of the run has the same purpose.
type purpose struct {
	request *jobtree.Request // nil if it was for a tick, or if the request is not there any more
	isOver  bool             // it was for a request that has ended since: it is not repeated
}

// purposeOfRequest returns the purpose of a run for a request, or for a tick if the request is nil.
func purposeOfRequest(r *jobtree.Request) purpose {
	return purpose{request: r, isOver: r != nil && !r.Ended.IsZero()}
}

// purposeOf returns what a run here was claimed for.
func (w *World) purposeOf(r *Run) purpose {
	if r.Request == "" {
		return purpose{}
	}
	request := w.openRequest(r)
	if request == nil {
		return purpose{isOver: true}
	}
	return purposeOfRequest(request)
}

// purposeOfClaim returns what the last claim of an item was for, as far as the tree tells. runner is the
// instance that has claimed it.
func (w *World) purposeOfClaim(i int, item *jobtree.Item, runner string) purpose {
	if item.Fired == nil {
		return purpose{}
	}
	if r := w.requestOfCommit(i, item.Fired.Modified); r != nil && r.Progress(i).Runner == runner {
		return purposeOfRequest(r)
	}
	return purpose{isOver: w.LacksRequest(i)}
}

// purposeOfWaiting returns the purpose of an item that awaits failover.
func (w *World) purposeOfWaiting(f *jobtree.FailoverItem) purpose {
	r := w.requestOfCommit(f.Item, f.Modified)
	if item := w.Item(f.Item); r == nil && item.Fired != nil { // an older version has put it up
		r = w.requestOfCommit(f.Item, item.Fired.Modified)
	}
	return purposeOfRequest(r)
}

// requestOfCommit returns the request for which a commit has claimed an item, or has made it await failover: the
// same commit has written the progress of the item. It is nil if the commit was for no request.
func (w *World) requestOfCommit(i int, commit int64) *jobtree.Request {
	if q := w.requestQueue(); q != nil {
		for _, r := range q.runs[i] {
			if r.Progress(i).Modified == commit {
				return r
			}
		}
	}
	return nil
}

// LacksRequest reports whether the last claim of an item was for a request, and the snapshot does not show
// for which one. Either it shows the commit of that claim in parts, and a later snapshot shows the rest,
// or the request is gone.
func (w *World) LacksRequest(i int) bool {
	item := w.Item(i)
	return item.Fired != nil && !item.Fired.Run.Equal(item.Fired.Tick) && item.Failovering == nil &&
		item.Running != nil && !jobtree.IsJVMID(w.runnerOf(&item)) && w.requestOfCommit(i, item.Fired.Modified) == nil
}

// ifSamePurpose returns the conditions that an item was claimed, or awaits failover, for what the snapshot
// says: a view may show that before the progress that the same commit has written.
func (w *World) ifSamePurpose(i int, p purpose) []coord.Op {
	q := w.requestQueue()
	if q == nil {
		return nil
	}
	var ops []coord.Op
	turn := w.currentRequest(i)
	if turn != nil && turn != p.request && !slices.Contains(q.runs[i], turn) {
		ops = append(ops, w.ifProgress(turn, i))
	}
	for _, r := range q.runs[i] {
		if r != p.request {
			ops = append(ops, w.ifProgress(r, i))
		}
	}
	return ops
}

// ifProgress is the condition that an item has come as far with a request as the snapshot says.
func (w *World) ifProgress(r *jobtree.Request, i int) coord.Op {
	if p := r.Progress(i); p != nil {
		return coord.AtVersion(w.Job.Progress(r.ID, i), p.Version)
	}
	return coord.Absent(w.Job.Progress(r.ID, i))
}

// requeueRequest returns the operations by which an item does not run for a request any more, and waits
// for its turn again. If the request has ended, the turn never comes.
func (w *World) requeueRequest(i int, p purpose) []coord.Op {
	if p.request == nil {
		return nil
	}
	before := progressOf(p.request, i)
	return w.writeProgress(p.request, i, jobtree.ProgressDocument{Done: before.Done, Failed: before.Failed})
}

// keepProgress returns the operations that write the progress of an item again, in the commit by which it
// awaits failover: so the number of that commit tells for which request it does.
func (w *World) keepProgress(i int, p purpose) []coord.Op {
	if p.request == nil {
		return nil
	}
	runner, before := w.Self.ID, progressOf(p.request, i)
	if p.request.Progress(i) != nil {
		runner = before.Runner
	}
	return w.writeProgress(p.request, i, jobtree.ProgressDocument{Runner: runner, Done: before.Done, Failed: before.Failed})
}

// progressOf returns how far an item has come with a request.
func progressOf(r *jobtree.Request, i int) jobtree.ProgressDocument {
	if p := r.Progress(i); p != nil {
		return p.ProgressDocument
	}
	return jobtree.ProgressDocument{}
}

// cutProgress returns the operations that note that a run for a request was cut short, and is not run again.
func (w *World) cutProgress(i int, p purpose, outcome jobtree.Outcome) []coord.Op {
	if p.request == nil {
		return nil
	}
	end := jobtree.CompletionDocument{Outcome: outcome, Ended: w.correctedTime()}
	if outcome == jobtree.OutcomeCut {
		end.Error = fmt.Sprintf("its instance ended before the run did, and it was not tried again: %s", w.whyNotAgain(p))
	}
	before := progressOf(p.request, i)
	return w.writeProgress(p.request, i, nextProgress(p.request, before.Done, before.Failed, end))
}

// whyNotAgain says why a run for a request that was cut short is not repeated.
func (w *World) whyNotAgain(p purpose) string {
	switch {
	case p.isOver:
		return "the request was cancelled"
	case !w.Rules.Monitor:
		return "the job keeps no records of its runs (monitorExecution)"
	case !w.Rules.Failover:
		return "the job has no failover"
	}
	return "its record is gone"
}
