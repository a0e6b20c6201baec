package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// claimsPerCommit bounds the claims of one commit. More claims go into several commits, in parallel.
const claimsPerCommit = 30

// claims builds changes that claim items.
type claims struct{ changes }

// claims returns an empty list of claims for a step. The version of the configuration is
// one of their conditions: when an item is removed and created again, the versions of its
// nodes begin anew, but the total has changed then, and so has the configuration.
func (w *World) claims(step string) *claims {
	c := &claims{changes{w: w, step: step, most: claimsPerCommit}}
	if w.Config != nil {
		c.head = (*World).sessionConfigHead
	}
	return c
}

// tickClaims is claims for ticks, with the condition that the schedule is the same: a tick must not begin
// once the job is paused.
func (w *World) tickClaims(step string) *claims {
	c := w.claims(step)
	if before := c.head; before != nil && w.Schedule != nil {
		c.head = func(w *World) []coord.Op { return append(before(w), w.ifSameSchedule()) }
	}
	return c
}

// own adds the claim of an item that this instance owns. also are further conditions and writes.
func (c *claims) own(item *jobtree.Item, claim Claim, also ...coord.Op) {
	ops := []coord.Op{
		coord.AtVersion(c.w.Job.ItemInstance(claim.Item), item.Owner.Version),
		c.w.createRunning(claim.Item),
		c.w.writeFired(item, claim),
	}
	if item.Misfire {
		ops = append(ops, coord.DeleteTree(c.w.Job.Misfire(claim.Item)))
	}
	if c.w.Rules.Failover && c.w.IsMixed() && item.Failover == nil {
		ops = append(ops, coord.Absent(c.w.Job.Failover(claim.Item))) // see isTakenByJVM
	}
	c.put(item, claim, append(ops, also...))
}

// put adds the claim of an item.
func (c *claims) put(item *jobtree.Item, claim Claim, ops []coord.Op) *Part {
	if item.Fired != nil {
		claim.Before = item.Fired.Tick
	}
	part := c.add(claim.Item, ops...)
	part.Claim = &claim
	return part
}

// createRunning returns the operation that creates running. With failover on the node
// outlives its instance, so that others see which items to run again.
func (w *World) createRunning(i int) coord.Op {
	if w.Rules.Failover {
		return coord.Create(w.Job.Running(i), []byte(w.Self.ID))
	}
	return coord.CreateEphemeral(w.Job.Running(i), []byte(w.Self.ID))
}

// writeFired returns the operation that rewrites fired. Every claim does so: the number of
// its commit, Modified of fired, becomes the token. No claim moves the last tick back.
func (w *World) writeFired(item *jobtree.Item, claim Claim) coord.Op {
	value := jobtree.EncodeClaim(claim.Last, claim.Tick)
	if item.Fired == nil {
		return coord.Create(w.Job.Fired(claim.Item), value)
	}
	return coord.SetAt(w.Job.Fired(claim.Item), value, item.Fired.Version)
}

// lastFired returns the last tick that an item has begun, or otherwise if it has no record.
func lastFired(item *jobtree.Item, otherwise time.Time) time.Time {
	if item.Fired == nil {
		return otherwise
	}
	return item.Fired.Tick
}
