package assign

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// assigned is how this leader has assigned the items: for which instances and configuration,
// and by which answer of the strategy.
type assigned struct {
	instances []strategy.Instance
	total     int
	modified  int64 // of the configuration
	owners    []string

	// For a strategy that changes its answer although the question is the same:
	debtUntil  clocks.Moment // when all changes are paid off: each costs changeCost
	isUnstable bool          // it has changed its answer too often

	hasPending bool // items wait for their new owners
	isSettled  bool // all have them, and nothing that the strategy is asked about has changed since

	// For a strategy that looks at loads, which change although nothing of the job does:
	loadsDueAt clocks.Moment // when it is asked again
	loadsPause time.Duration // … and after which time once more
}

const (
	// changeCost is how long it takes to pay off one change of the answer.
	changeCost = time.Minute
	// maxDebt bounds the changes that are not paid off. A strategy that reaches it is unstable until half of them
	// are.
	maxDebt = 20 * changeCost
)

// allowChange reports whether the items may move by a changed answer now, and adds its cost to the debt if
// so. If not, it returns how long the change has to wait.
func (d *assigned) allowChange(now clocks.Moment) (bool, time.Duration) {
	debt := min(max(d.debtUntil.Sub(now), 0), maxDebt)
	if debt > maxDebt-changeCost {
		d.isUnstable = true
		d.debtUntil = now.Add(debt)
		return false, debt - (maxDebt - changeCost)
	}
	d.debtUntil = now.Add(debt + changeCost)
	return true, 0
}

// Reset forgets what was assigned: this instance does not lead.
func (a *Assigner) Reset() { a.assigned = assigned{} }

// Invalidate has the strategy asked again: what it is asked about may have changed.
func (a *Assigner) Invalidate() { a.assigned.isSettled = false }

// MarkPending notes that items are to be assigned, and may have to wait for their new owners.
func (a *Assigner) MarkPending() { a.assigned.hasPending = true }

// HasPending reports whether items wait for their new owners.
func (a *Assigner) HasPending() bool { return a.assigned.hasPending }

// IsSettled reports whether the strategy need not be asked: all items have their owners, nothing
// that it is asked about has changed, and it is not yet time to look at the loads again.
func (a *Assigner) IsSettled(now clocks.Moment, s Strategy) bool {
	return a.assigned.isSettled && !a.loadsAreDue(now, s)
}

// Outcome is what has become of the owners that a leader has got.
type Outcome struct {
	Owners  []string // what Owners has returned
	Err     error
	Changes int  // how many changes assign the items
	Waits   bool // some wait for a time
}

// Assigned notes that the leader has assigned items.
func (a *Assigner) Assigned(w *decide.World, s Strategy, o Outcome) {
	d := &a.assigned
	d.hasPending = o.Changes > 0 || o.Waits || !w.IsAssigned(o.Owners) || w.AwaitsRunEnds(d.owners)
	d.isSettled = !d.hasPending && o.Err == nil && !d.isUnstable
	a.scheduleLoads(w.Moment, s, o.Changes > 0)
}
