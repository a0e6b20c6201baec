package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
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
	circumstances = []rule{faults, configured, newInstances}
)

// missing are fates whose tick has not begun in time.
func missing(t *fate) bool { return t.verdict == Late || t.verdict == Unknown || t.verdict == Skipped }

func paused(f *facts, _ []fate) []Cause {
	if s := f.paused(); s != nil {
		return []Cause{s.cause(Paused, "no tick begins during a pause", "elasticjob resume "+f.job.Info.Name)}
	}
	return nil
}

// cause makes a cause of a change. The command ends what still holds.
func (s *span) cause(kind Kind, text, command string) Cause {
	if !s.until.IsZero() {
		command = ""
	}
	return Cause{Kind: kind, Since: s.At, Until: s.until, By: s.By, Why: s.Why, Text: text, Command: command}
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
	if causes == nil && f.isDisabled() {
		causes = []Cause{{Text: "all servers of the job are disabled"}}
	}
	if s := f.serversDisabled(); causes != nil && s != nil {
		c := s.cause(ServersDisabled, causes[0].Text+": "+s.Detail, "elasticjob enable "+f.job.Info.Name)
		c.Items = causes[0].Items
		return []Cause{c}
	}
	return causes
}

// itemDisabled has a cause for each change by which items were disabled, and one for those of which no change is known.
func itemDisabled(f *facts, fates []fate) (causes []Cause) {
	places := map[string]int{}
	for _, t := range fates {
		s := f.disabled[t.item]
		if isTold := t.isSkippedFor(jobtype.SkipItemDisabled); !missing(&t) || s == nil && !isTold {
			continue
		}
		if s == nil {
			s = &span{}
		}
		n, isThere := places[s.ID]
		if !isThere {
			n = len(causes)
			places[s.ID] = n
			causes = append(causes, s.cause(ItemDisabled, "an operator had disabled it", "elasticjob enable "+f.job.Info.Name+" --items"))
		}
		c := &causes[n]
		c.Items = append(c.Items, t.item)
		if c.Command != "" {
			c.Command = fmt.Sprintf("elasticjob enable %s --items %s", f.job.Info.Name, commas(c.Items))
		}
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

// noInstance says when no instance was there. One was if the first that is heard of it after the tick is not that it joins.
func noInstance(f *facts, fates []fate) []Cause {
	if _, isAny := itemsWhere(fates, func(t *fate) bool { return missing(t) && t.skipped == nil }); !isAny {
		return nil
	}
	heard := map[string]bool{}
	var gone, back time.Time
	isKnown := slices.ContainsFunc(f.changes, func(c ops.Change) bool { return c.Before == "" && c.Action == ops.ActionCreate && c.At.Before(f.tick) })
	for _, e := range f.events {
		switch {
		case e.Instance == "":
		case !e.Time.After(f.tick):
			isKnown = true
			if gone = e.Time; e.Kind != jobtype.EventLeft {
				gone = time.Time{} // it may have lived for longer
			}
		case !heard[e.Instance] && e.Kind != jobtype.EventJoined:
			return nil
		default:
			if heard[e.Instance] = true; back.IsZero() {
				back = e.Time
			}
		}
	}
	for _, x := range f.runs {
		if x.Instance != "" && !heard[x.Instance] && (x.StartTime.After(f.tick) || x.CompleteTime.After(f.tick)) {
			return nil
		}
	}
	isLast := f.next.IsZero() || f.next.After(f.now) // of all ticks up to now
	if !back.IsZero() && !isKnown || back.IsZero() && (len(f.job.Instances) > 0 || !isKnown && !isLast) {
		return nil
	}
	text := "no instance of the job was there"
	if back.IsZero() && gone.IsZero() {
		text = "no instance of the job is there now"
	}
	c := Cause{Kind: NoInstance, Since: gone, Until: back, Text: text, Command: "elasticjob doctor " + f.job.Info.Name}
	for _, change := range f.changes {
		if change.Action == ops.ActionShutdown && !change.At.After(f.tick) && (gone.IsZero() || change.At.Sub(gone).Abs() <= around) {
			c.By, c.Why = change.By, change.Why
		}
	}
	return []Cause{c}
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
				for _, k := range f.changes {
					isIt := k.Detail == "all items" || slices.Contains(itemsOf(k.Detail, x.Item), x.Item)
					if k.Action == ops.ActionKill && isIt && k.At.After(x.StartTime) && !k.At.After(x.CompleteTime.Add(time.Second)) {
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

// around is how near to a tick a change may be what has kept an item from running.
const around = 5 * time.Minute

func (f *facts) isAround(at time.Time) bool { return at.Sub(f.tick).Abs() <= around }

func configured(f *facts, _ []fate) []Cause {
	for _, c := range slices.Backward(f.changes) { // who has done it says more than that it took effect
		if f.isAround(c.At) && c.Before != "" && slices.Contains([]ops.Action{ops.ActionUpdate, ops.ActionApply, ops.ActionImplement}, c.Action) {
			return []Cause{{Kind: Configured, Since: c.At, By: c.By, Why: c.Why, Text: "an operator has changed the configuration"}}
		}
	}
	for _, e := range slices.Backward(f.events) {
		if e.Kind == jobtype.EventConfigured && e.Detail != "" && f.isAround(e.Time) {
			return []Cause{{Kind: Configured, Since: e.Time, Text: "another configuration took effect: " + brief.Text(e.Detail)}}
		}
	}
	return nil
}

func newInstances(f *facts, _ []fate) []Cause {
	c := Cause{Kind: NewInstances}
	left, joined, version := 0, 0, ""
	for _, e := range f.events {
		switch {
		case !f.isAround(e.Time):
			continue
		case e.Kind == jobtype.EventLeft:
			if left++; left == 1 {
				c.Since = e.Time
			}
		case e.Kind == jobtype.EventJoined && left > 0:
			joined++
			c.Until = e.Time
			for _, in := range f.job.Instances {
				if in.ID == e.Instance && in.Version != "" {
					version = "; " + in.ID + " has version " + in.Version
				}
			}
		}
	}
	if joined == 0 {
		return nil
	}
	c.Text = fmt.Sprintf("instances have left (%d), and others have joined (%d), as at a deployment%s", left, joined, version)
	return []Cause{c}
}

// itemsOf reads the items of a change, such as "items 0-3, 7", up to the one that is wanted last.
func itemsOf(detail string, last int) (list []int) {
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(detail, "item "), "items "), ", ") {
		var from, to int
		switch n, _ := fmt.Sscanf(part, "%d-%d", &from, &to); {
		case n == 0 || from < 0: // no items, or the text was cut
			return list
		case n == 1:
			to = from
		}
		for item := from; item <= min(to, last); item++ {
			list = append(list, item)
		}
	}
	return list
}

// commas writes items as a flag takes them.
func commas(items []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(items), "[]"), " ", ",")
}
