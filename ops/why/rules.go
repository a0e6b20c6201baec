package why

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// rule finds causes of some kind, of a tick that has not begun in time.
type rule func(*facts, []fate) []Cause

// keeps are what keeps a tick from beginning, and circumstances what was so at that time: they are told if nothing else
// explains it than that no instance was there.
var (
	keeps = []rule{
		paused, serversDisabled, itemDisabled, stillRunning, skippedFor(TooLate, jobtype.SkipTooLate, "it was missed, and is not made up: misfire is off, or it was too long ago"),
		skippedFor(BegunElse, jobtype.SkipBegunElse, "the process has run it with another item"),
		skippedFor(ScheduleChanged, jobtype.SkipScheduleChanged, "it was missed by a schedule that is not in force any more"), noInstance,
	}
	circumstances = []rule{faults, near((*facts).configured), near((*facts).replaced)}
)

// missing are fates whose tick has not begun in time.
func missing(t *fate) bool { return t.verdict == Late || t.verdict == Unknown || t.verdict == Skipped }

func paused(f *facts, _ []fate) []Cause {
	if h := f.heldAt(Paused, f.tick); h != nil {
		return []Cause{h.Cause}
	}
	return nil
}

// skippedFor returns the rule for ticks that were skipped for a reason.
func skippedFor(kind Kind, reason jobtype.SkipReason, text string) rule {
	return func(_ *facts, fates []fate) []Cause {
		items, isAny := itemsWhere(fates, func(t *fate) bool { return t.isSkippedFor(reason) })
		if !isAny {
			return nil
		}
		return []Cause{{Kind: kind, Items: items, Text: text}}
	}
}

func serversDisabled(f *facts, fates []fate) []Cause {
	causes := skippedFor(ServersDisabled, jobtype.SkipServersDisabled, "all servers that may run it were disabled")(f, fates)
	if h := f.heldAt(ServersDisabled, f.tick); h != nil && (causes != nil || f.isDisabled()) {
		c := h.Cause
		if causes != nil {
			c.Items = causes[0].Items
		}
		return []Cause{c}
	}
	return causes
}

// itemDisabled has a cause for each change by which items were disabled, and one for those of which no change is known.
func itemDisabled(f *facts, fates []fate) (causes []Cause) {
	var changes []*held
	items := map[*held][]int{}
	for _, t := range fates {
		h := f.disabledAt(t.item)
		if isTold := t.isSkippedFor(jobtype.SkipItemDisabled); !missing(&t) || h == nil && !isTold {
			continue
		}
		if items[h] == nil {
			changes = append(changes, h)
		}
		items[h] = append(items[h], t.item)
	}
	for _, h := range changes {
		one := held{Cause: Cause{Kind: ItemDisabled}}
		if h != nil {
			one = *h
		}
		one.Items = items[h]
		one.say(f.job.Info.Name)
		causes = append(causes, one.Cause)
	}
	return causes
}

func stillRunning(f *facts, fates []fate) (list []Cause) {
	for _, t := range fates {
		c := Cause{Kind: StillRunning, Items: []int{t.item}, Text: "its run before was not over"}
		isFound := t.isSkippedFor(jobtype.SkipWhileRunning)
		for _, x := range f.runs {
			isBefore := x.Item == t.item && !x.StartTime.IsZero() && x.StartTime.Before(f.tick) && !f.isFor(x)
			if isBefore && (x.CompleteTime.After(f.tick) || x.Outcome == history.OutcomeRunning && !f.hasRunSince(x)) {
				c.Since, c.Until, c.Command, isFound = x.StartTime, x.CompleteTime, "elasticjob history --id "+x.ID, true
			}
		}
		if missing(&t) && isFound && len(list) < maxRuns {
			list = append(list, c)
		}
	}
	return list
}

// hasRunSince reports whether a later run of the item is known: then nobody has told the end of the one before.
func (f *facts) hasRunSince(x history.Execution) bool {
	return slices.ContainsFunc(f.runs, func(y history.Execution) bool { return y.Item == x.Item && y.StartTime.After(x.StartTime) })
}

// noInstance says when no instance was there. If nothing at all is known of any, that is so of the last tick up to now.
func noInstance(f *facts, fates []fate) []Cause {
	if _, isAny := itemsWhere(fates, func(t *fate) bool { return missing(t) && t.skipped == nil }); !isAny {
		return nil
	}
	for _, c := range f.absences() {
		if c.covers(f.tick) {
			return []Cause{c}
		}
	}
	if isLast := f.next.IsZero() || f.next.After(f.now); isLast && len(f.job.Instances) == 0 && len(f.signs()) == 0 {
		return []Cause{f.absence(sign{hasEnd: true}, time.Time{})}
	}
	return nil
}

// ends are how the runs of the tick have waited and ended, where that says something.
func ends(f *facts, fates []fate) (list []Cause) {
	for _, t := range fates {
		for _, x := range t.runs {
			c := Cause{Items: []int{x.Item}, Since: x.StartTime, Until: x.CompleteTime, Command: "elasticjob history --id " + x.ID}
			if len(list) >= maxRuns {
				return list
			}
			if x.Waited > f.tolerance() {
				list = append(list, Cause{Kind: NoThread, Items: c.Items, Since: x.StartTime.Add(-x.Waited), Until: x.StartTime, Text: fmt.Sprintf("it waited %s for a thread", x.Waited.Round(time.Millisecond))})
			}
			switch {
			case x.Outcome == history.OutcomeLost || x.Outcome == history.OutcomeOf(jobtype.OutcomeCut):
				c.Kind, c.Text = CutShort, "it was cut short, because its instance ended: "+brief.Quote(x.Instance)
			case x.Outcome == history.OutcomeOf(jobtype.OutcomeKilled):
				c.Kind, c.Text = Killed, "an operator has ended it"
				for _, k := range f.kills() {
					if slices.Contains(k.Items, x.Item) && k.Since.After(x.StartTime) && !k.Since.After(x.CompleteTime.Add(time.Second)) {
						c.By, c.Why = k.By, k.Why
					}
				}
			case slices.Contains(history.Failures(), x.Outcome):
				c.Kind, c.Text = Failed, "it has failed: "+brief.Text(x.Error)
			default:
				continue
			}
			list = append(list, c)
		}
	}
	return list
}

// maxFaults bounds the faults of an answer.
const maxFaults = 5

// faults are those that were there at the tick, one of each kind at each instance.
func faults(f *facts, _ []fate) (list []Cause) {
	at := map[string]int{} // by instance and kind: the place in all
	var all []Cause
	for _, e := range f.events {
		if e.Kind != jobtype.EventFault {
			continue
		}
		n, isOpen := at[e.Instance+" "+e.What]
		switch {
		case e.Over && isOpen:
			all[n].Until = e.Time
			delete(at, e.Instance+" "+e.What)
		case !e.Over && !isOpen && !e.Time.After(f.tick):
			at[e.Instance+" "+e.What] = len(all)
			all = append(all, Cause{Kind: Fault, Since: e.Time, Text: fmt.Sprintf("fault %s at %s: %s", e.What, brief.Quote(e.Instance), brief.Text(e.Error)), Command: "elasticjob docs reference/faults#" + e.What})
		}
	}
	for _, c := range all {
		if (c.Until.IsZero() || c.Until.After(f.tick)) && len(list) < maxFaults {
			list = append(list, c)
		}
	}
	return list
}

// near returns the rule for causes that were less than five minutes from the tick: the last one of them.
func near(find func(*facts) []Cause) rule {
	return func(f *facts, _ []fate) []Cause {
		for _, c := range slices.Backward(find(f)) {
			if !c.Since.After(f.tick.Add(around)) && !c.Until.Before(f.tick.Add(-around)) {
				return []Cause{c}
			}
		}
		return nil
	}
}
