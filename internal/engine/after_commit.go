package engine

import (
	"errors"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/engine/commit"
)

// forgoCompletion makes a run end without {i}/completed, because an external writer keeps that node from
// being written: otherwise the record would stay, and the item would never run again.
func (c *controller) forgoCompletion(with commit.Conflict) {
	run := with.Part.Ends
	if conflict, ok := errors.AsType[*coord.ConflictError](with.Err); !ok || run == nil || conflict.Op.Path != c.job.Completion(run.Item) {
		return
	}
	run.NoCompletion = true
	c.reporter.Untold(with.Err)
}

// afterCommit does what follows from a change that was committed: it drops runs whose records were
// removed, notes misfires, tells observers of ticks that were skipped, and enqueues what was
// claimed. The committer calls it. token is the number of the commit.
func (c *controller) afterCommit(change decide.Change, token int64) {
	for _, p := range change.Parts {
		if p.Ends != nil {
			if r := c.runs[p.Ends.Item]; r != nil && &r.Run == p.Ends {
				c.forgetRun(r)
			}
			c.unrecordedEnds = slices.DeleteFunc(c.unrecordedEnds, func(r *decide.Run) bool { return r == p.Ends })
		}
		if p.Misfires != nil {
			p.Misfires.Marked = true
		}
		if p.Skips != nil {
			c.reporter.Skipped(&c.current, p.Item, *p.Skips)
		}
		if p.Claim != nil {
			c.reporter.ForgetSkip(p.Item)
		}
		if p.Late != nil {
			c.reportLate(p.Late)
		}
	}
	if claims := change.Claims(); len(claims) > 0 {
		c.noteClaims(claims)
		c.enqueue(claims, token)
	}
}

// rememberUnconfirmed remembers the claims and skips of a commit whose answer was lost.
func (c *controller) rememberUnconfirmed(w *decide.World, change decide.Change) {
	for _, p := range change.Parts {
		if p.Claim != nil {
			c.work.Unconfirmed[p.Item] = *p.Claim
		}
		if p.Skips != nil {
			c.reporter.RememberSkip(w, p.Item, *p.Skips)
		}
	}
}
