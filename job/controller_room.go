package job

import (
	"cmp"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// guestTime is how long an item that waits to be run again waits for room here, before this
// instance looks again.
const guestTime = time.Second

// roomy is what a controller knows of the items that its process may have.
type roomy struct {
	account   *account         // among the jobs of the node; nil if there is none
	sign      *sign            // of the node; nil if there is none
	loads     *loads           // that the leaders of the node share
	allowance decide.Allowance // settleRoom sets it
	most      int              // how many items may run here at a time, because of MaxItems; 0 is no bound: settleRoom
}

// settleRoom tells the node how many items are here, and notes how many may be. What runs here by the tree
// counts also if it is not in c.runs: the answer to its claim was lost.
func (c *controller) settleRoom(w *decide.World) {
	strays := w.Strayed(c.work)
	c.most, _ = w.MostRuns()
	c.allowance.Strays = len(strays)
	w.Allowance = c.allowance
	a := c.account
	if a == nil {
		return
	}
	own := c.items()
	if a.ledger.limit == 0 {
		a.settle(demand{items: len(own)}, w.Moment)
		return
	}
	d := demand{items: len(own), total: w.Rules.Total, joins: !w.IsRegistered()}
	for i := range c.runs {
		if item := w.Item(i); !item.Owner.Is(c.self.ID) {
			d.guests++
		}
	}
	for _, i := range strays {
		if item := w.Item(i); !item.Owner.Is(c.self.ID) {
			d.guests++
		}
	}
	d.items += d.guests
	for _, i := range own {
		if w.IsPinnedHere(i) {
			d.pinned++
		}
	}
	if !w.Leaving {
		d.missing = w.Missing()
	}
	if again := a.settle(d, w.Moment); again > 0 {
		c.wakeIn(again)
	}
	capped, room, mayHave := a.says(d.guests)
	c.allowance = decide.Allowance{IsBounded: true, Capped: capped, Room: room, Barred: c.barred(w, own, mayHave), Strays: len(strays)}
	w.Allowance = c.allowance
	if waiting := len(w.FailoverItems); waiting > 0 && w.IsActive() {
		if w.Guests = a.admit(waiting); w.Guests < waiting {
			c.wakeIn(guestTime)
		}
	}
}

// barred returns the items of this instance that are beyond what it may have. Those that are
// pinned, or run here by the tree, have room first, then those that had room before, then the first ones.
func (c *controller) barred(w *decide.World, own []int, mayHave int) map[int]bool {
	if len(own) <= mayHave {
		return nil
	}
	rank := func(i int) int {
		switch {
		case w.IsPinnedHere(i):
			return 0
		case c.runs[i] != nil, w.Item(i).Running.Is(w.Self.ID): // its claim has happened, and it is about to run
			return 1
		case !c.allowance.Barred[i]:
			return 2
		}
		return 3
	}
	order := slices.Clone(own)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	barred := map[int]bool{}
	for _, i := range order[max(mayHave, 0):] {
		barred[i] = true
	}
	return barred
}
