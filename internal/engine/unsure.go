package engine

import (
	"errors"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
)

// unsureSkip is a commit that passes ticks of an item over, and whose answer was lost. If it has happened, the
// observers have to be told of it.
type unsureSkip struct {
	event Event
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
		if p.Skips == nil || item.Fired == nil || item.Owner == nil || c.reporter.Unobserved() {
			continue
		}
		c.isSure(p.Item)
		c.unsure = append(c.unsure, unsureSkip{c.skippedEvent(p.Item, *p.Skips), item.Fired.Modified, item.Owner.Modified})
	}
}

// isSure forgets that ticks of an item may have been skipped.
func (c *controller) isSure(item int) {
	c.unsure = slices.DeleteFunc(c.unsure, func(u unsureSkip) bool { return u.event.Item == item })
}

// tellUnsure tells of ticks that were skipped, as the tree shows by now.
func (c *controller) tellUnsure() {
	c.unsure = slices.DeleteFunc(c.unsure, func(u unsureSkip) bool {
		item := c.state.Item(u.event.Item)
		if item.Fired != nil && item.Fired.Modified <= u.fired {
			return false // it has not happened yet, or the view is late
		}
		if item.Fired != nil && item.Fired.Tick.Equal(u.event.ScheduledTime) && item.Owner != nil && item.Owner.Modified == u.owner {
			c.reporter.Tell(u.event)
		}
		return true
	})
}
