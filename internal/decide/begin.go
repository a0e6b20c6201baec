package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// claimsPerCommit bounds a commit of claims. More items go in several, in parallel.
const claimsPerCommit = 30

// claims builds changes that begin runs.
type claims struct {
	w *World
	changes
}

// claims begins a list of claims. Items that are removed and created again count their
// versions from the start again; the configuration, which says how many there are, does
// not, so it is in the conditions.
func (w *World) claims(step string) *claims {
	c := &claims{w: w, changes: changes{step: step, most: claimsPerCommit}}
	if w.Config != nil {
		c.head = []coord.Op{w.ifMine(), w.ifConfigured()}
	}
	return c
}

// own claims an item that this instance owns.
func (c *claims) own(item *jobtree.Item, claim Claim) {
	ops := []coord.Op{
		coord.AtVersion(c.w.Job.ItemInstance(claim.Item), item.Owner.Version),
		c.w.createRunning(claim.Item),
		c.w.writeFired(item, claim),
	}
	if item.Misfire {
		ops = append(ops, coord.DeleteTree(c.w.Job.Misfire(claim.Item)))
	}
	c.put(item, claim, ops)
}

// put appends a claim of an item.
func (c *claims) put(item *jobtree.Item, claim Claim, ops []coord.Op) *Part {
	if item.Fired != nil {
		claim.Before = item.Fired.Tick
	}
	part := c.add(claim.Item, ops...)
	part.Claim = &claim
	return part
}

// createRunning creates the record of a run. It outlives its instance where somebody is to
// take over what that left unfinished.
func (w *World) createRunning(i int) coord.Op {
	if w.Rules.Failover {
		return coord.Create(w.Job.Running(i), []byte(w.Self.ID))
	}
	return coord.CreateEphemeral(w.Job.Running(i), []byte(w.Self.ID))
}

// writeFired rewrites an item's fired record, as every claim does: its Modified becomes
// the token of the claim. The last tick never goes back.
func (w *World) writeFired(item *jobtree.Item, claim Claim) coord.Op {
	value := jobtree.EncodeClaim(claim.Last, claim.Tick)
	if item.Fired == nil {
		return coord.Create(w.Job.Fired(claim.Item), value)
	}
	return coord.SetAt(w.Job.Fired(claim.Item), value, item.Fired.Version)
}

// lastFired is the last tick that an item has begun, or otherwise.
func lastFired(item *jobtree.Item, otherwise time.Time) time.Time {
	if item.Fired == nil {
		return otherwise
	}
	return item.Fired.Tick
}
