package decide

import (
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// purpose is what an item was claimed for: a tick, or a request. Whatever repeats the run is for the
// same.
type purpose struct {
	request *jobtree.Request // nil if it was for a tick, or if the request is not there any more
	isOver  bool             // it was for a request that has ended since: it is not repeated
}

// forRequest returns the purpose of a run for a request; of one for a tick if it is nil.
func forRequest(r *jobtree.Request) purpose {
	return purpose{request: r, isOver: r != nil && !r.Ended.IsZero()}
}

// purposeOf returns what a run here was claimed for.
func (w *World) purposeOf(r *Run) purpose {
	if r.Request == "" {
		return purpose{}
	}
	request := w.Request(r.Request)
	if request == nil || request.Err != nil || w.isTold(request, r) {
		return purpose{isOver: true}
	}
	return forRequest(request)
}

// purposeOfClaim returns what the last claim of an item was for, as far as the tree tells. runner is the
// instance that has claimed it.
func (w *World) purposeOfClaim(i int, item *jobtree.Item, runner string) purpose {
	if item.Fired == nil {
		return purpose{}
	}
	if r := w.wroteFor(i, item.Fired.Modified); r != nil && r.Progress(i).Runner == runner {
		return forRequest(r)
	}
	return purpose{isOver: w.LacksRequest(i)}
}

// purposeOfWaiting returns what an item that waits to be run again is to run for.
func (w *World) purposeOfWaiting(f *jobtree.FailoverItem) purpose {
	r := w.wroteFor(f.Item, f.Modified)
	if item := w.Item(f.Item); r == nil && item.Fired != nil { // an older version has put it up
		r = w.wroteFor(f.Item, item.Fired.Modified)
	}
	return forRequest(r)
}

// wroteFor returns the request for which a commit has claimed an item, or has put it up to be run again: that
// commit has written the progress of the item, too. It is nil if the commit was for no request.
func (w *World) wroteFor(i int, commit int64) *jobtree.Request {
	if q := w.requestQueue(); q != nil {
		for _, r := range q.runs[i] {
			if r.Progress(i).Modified == commit {
				return r
			}
		}
	}
	return nil
}

// LacksRequest reports whether the last claim of an item was for a request, and the snapshot does not
// show which one. If it shows the commit of that claim in parts, a later one does. Otherwise the request is gone.
func (w *World) LacksRequest(i int) bool {
	item := w.Item(i)
	return item.Fired != nil && !item.Fired.Run.Equal(item.Fired.Tick) && item.Failovering == nil &&
		item.Running != nil && !jobtree.IsJVMID(w.runner(&item)) && w.wroteFor(i, item.Fired.Modified) == nil
}

// ifAsSeen returns the conditions that an item was claimed, or put up, for what the snapshot says: a view
// may show that before the progress that the same commit has written.
func (w *World) ifAsSeen(i int, p purpose) []coord.Op {
	q := w.requestQueue()
	if q == nil {
		return nil
	}
	var ops []coord.Op
	turn := w.turnOf(i)
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

// giveTurnBack returns the operations by which an item does not run for a request any more, and has its
// turn again. If the request has ended, the turn never comes.
func (w *World) giveTurnBack(i int, p purpose) []coord.Op {
	if p.request == nil {
		return nil
	}
	d := jobtree.ProgressDocument{}
	if before := p.request.Progress(i); before != nil {
		d.Done, d.Failed = before.Done, before.Failed
	}
	return w.writeProgress(p.request, i, d)
}

// goesOnFor returns the operations by which an item is still to run for a request, when it is put up to be run
// again: that has the number of the same commit then.
func (w *World) goesOnFor(i int, p purpose) []coord.Op {
	if p.request == nil {
		return nil
	}
	d := jobtree.ProgressDocument{Runner: w.Self.ID}
	if before := p.request.Progress(i); before != nil {
		d.Runner, d.Done, d.Failed = before.Runner, before.Done, before.Failed
	}
	return w.writeProgress(p.request, i, d)
}

// cutProgress returns the operations that note that a run for a request was cut short, and does not begin
// again.
func (w *World) cutProgress(i int, p purpose, outcome jobtree.Outcome) []coord.Op {
	if p.request == nil {
		return nil
	}
	end := jobtree.CompletionDocument{Outcome: outcome, Ended: w.time()}
	if outcome == jobtree.OutcomeCut {
		end.Error = fmt.Sprintf("its instance ended before the run did, and it was not tried again: %s", w.whyNotAgain(p))
	}
	done, failed := 0, 0
	if before := p.request.Progress(i); before != nil {
		done, failed = before.Done, before.Failed
	}
	return w.writeProgress(p.request, i, progressed(p.request, done, failed, end))
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
