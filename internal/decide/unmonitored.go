package decide

import "time"

// Unmonitored is what this process remembers of a job whose executions have no records. No
// other process knows it. While an item moves, two instances may both run it.
type Unmonitored struct {
	Last   time.Time    // the last tick that this process has begun
	Missed map[int]bool // items that still ran when a tick came
}

// FireUnmonitored returns the items that are to begin here now, without a commit, and what to remember
// from then on.
func (w *World) FireUnmonitored(k *Work, u Unmonitored) ([]Claim, Unmonitored) {
	if u.Last.After(w.Now.Add(FutureTolerance)) {
		// The clock was far ahead, and nobody knows what was missed meanwhile: begin anew from now. If it was set
		// back by less, the ticks up to Last were begun, and are not begun again.
		u = Unmonitored{Last: w.Now}
	}
	if w.IsPaused() {
		return nil, u
	}
	tick := w.LastTick()
	var source Source // of the tick; 0 if it is not to begin
	switch w.judgeTick(u.Last, tick, tick, false) {
	case notDue:
		tick = u.Last
	case onTime:
		source = Normal
	case makeUp:
		source = Misfire
	}
	next := Unmonitored{Last: tick, Missed: map[int]bool{}}
	var begin []Claim
	for i := range w.itemCount() {
		item := &w.Items[i]
		if !w.isRunnableHere(i, item) || !w.IsActive() || w.Rules.Broadcast && len(begin) > 0 {
			continue
		}
		switch {
		case k.Runs[i] != nil:
			if u.Missed[i] || source != 0 && w.Rules.Misfire && !w.Rules.SkipOverlap {
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
