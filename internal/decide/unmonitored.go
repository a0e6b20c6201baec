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
	if u.Last.After(w.Now.Add(FutureTolerance)) {
		// The clock was far ahead. What was missed meanwhile nobody can tell. After a smaller
		// step the ticks are waited for: they were begun.
		u = Unmonitored{Last: w.Now}
	}
	tick := w.LastTick()
	var source Source // of the tick; 0 if it does not begin
	switch w.judgeTick(u.Last, tick, false) {
	case notDue:
		tick = u.Last
	case onTime:
		source = Normal
	case missed:
		source = Misfire
	}
	next := Unmonitored{Last: tick, Missed: map[int]bool{}}
	var begin []Claim
	for i := range w.items() {
		item := &w.Items[i]
		if !w.owns(item) || item.Disabled || !w.IsActive() {
			continue
		}
		switch {
		case k.Runs[i] != nil:
			if u.Missed[i] || source != 0 && w.Rules.Misfire {
				next.Missed[i] = true
			}
		case source != 0:
			begin = append(begin, Claim{Item: i, Source: source, Tick: tick})
		case u.Missed[i]:
			begin = append(begin, Claim{Item: i, Source: Misfire, Tick: tick})
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
