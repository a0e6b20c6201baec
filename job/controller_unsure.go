package job

import (
	"errors"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
)

// unsurePass is a commit that passes ticks of an item over, and whose answer was lost. If it has happened, the
// observers have to be told of it.
type unsurePass struct {
	event PassedOverEvent
	fired int64 // Modified of the item's fired before
	owner int64 // Modified of its owner: nobody else passes ticks over while it is the same
}

// rememberUnsure remembers what a commit may have done whose answer was lost.
func (c *controller) rememberUnsure(a answer) {
	if !errors.Is(a.err, coord.ErrUnknownOutcome) {
		return
	}
	for _, p := range a.change.Parts {
		if p.Claim != nil {
			c.work.Unsure[p.Item] = *p.Claim
		}
		item := c.state.Item(p.Item)
		if p.Passes == nil || item.Fired == nil || item.Owner == nil || c.watchers.isDeaf() {
			continue
		}
		c.isSure(p.Item)
		c.unsure = append(c.unsure, unsurePass{c.passedOver(p.Item, *p.Passes), item.Fired.Modified, item.Owner.Modified})
	}
}

// isSure forgets that ticks of an item may have been passed over.
func (c *controller) isSure(item int) {
	c.unsure = slices.DeleteFunc(c.unsure, func(u unsurePass) bool { return u.event.Item == item })
}

// tellUnsure tells of ticks that were passed over, as the tree shows by now.
func (c *controller) tellUnsure() {
	c.unsure = slices.DeleteFunc(c.unsure, func(u unsurePass) bool {
		item := c.state.Item(u.event.Item)
		if item.Fired != nil && item.Fired.Modified <= u.fired {
			return false // it has not happened yet, or the view is late
		}
		if item.Fired != nil && item.Fired.Tick.Equal(u.event.ScheduledTime) && item.Owner != nil && item.Owner.Modified == u.owner {
			observe(c, u.event, func(o *Observer) func(PassedOverEvent) { return o.PassedOver })
		}
		return true
	})
}
