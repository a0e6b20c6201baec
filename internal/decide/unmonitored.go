package decide

import (
	"maps"
	"slices"
	"time"
)

// Unmonitored is what a process remembers of a job whose executions have no records. It is
// known to this process only, and forgotten with it; two instances may both think that an
// item is theirs while it moves.
type Unmonitored struct {
	Last   time.Time    // the last tick that it has begun
	Missed map[int]bool // items that a tick found running
}

// FireUnmonitored begins the last tick of the items that are assigned here, without a word
// to the store. It returns what to remember from then on.
func (w *World) FireUnmonitored(k *Work, u Unmonitored) ([]Claim, Unmonitored) {
	next := Unmonitored{Last: u.Last, Missed: map[int]bool{}}
	if u.Last.After(w.Now.Add(FutureTolerance)) {
		// The clock was far ahead. What was missed meanwhile nobody can tell. After a smaller
		// step the ticks are waited for: they were begun.
		next.Last, u.Missed = w.Now, nil
	}
	tick := w.LastTick()
	verdict := w.judgeTick(next.Last, tick, false)
	isDue := verdict == onTime || verdict == late
	source := Normal
	if verdict == late {
		source = Misfire
	}
	if verdict != notDue {
		next.Last = tick
	}
	var begin []Claim
	for i := range w.items() {
		item := &w.Items[i]
		switch {
		case !w.owns(item) || item.Disabled || !w.IsActive():
		case k.Runs[i] != nil:
			if u.Missed[i] || isDue && w.Rules.Misfire {
				next.Missed[i] = true
			}
		case isDue:
			begin = append(begin, Claim{Item: i, Source: source, Tick: tick})
		case u.Missed[i]:
			begin = append(begin, Claim{Item: i, Source: Misfire, Tick: next.Last})
		}
	}
	return begin, next
}

// BeginTriggeredUnmonitored begins the items that were triggered and are idle.
func (w *World) BeginTriggeredUnmonitored(k *Work, pending map[int]Pending) []Claim {
	var begin []Claim
	for _, i := range slices.Sorted(maps.Keys(pending)) {
		if item := w.Item(i); k.Runs[i] == nil && w.owns(&item) {
			begin = append(begin, Claim{Item: i, Source: Manual, Tick: w.Now, Parameter: pending[i].Parameter, Request: pending[i].Request})
		}
	}
	return begin
}
