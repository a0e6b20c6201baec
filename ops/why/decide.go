package why

import (
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// facts are what an answer is made of. Lists are ascending by time.
type facts struct {
	due
	at, now time.Time
	item    *int  // that was asked for; nil is all
	items   []int // that are looked at; of a broadcast job, those that are known
	runs    []history.Execution
	events  []trace.Event
	changes []ops.Change
	job     *ops.JobDetail // as it is now
	isCut   bool           // what has happened up to now was not looked at

	held []held // holding
}

// fate is what became of the tick for an item.
type fate struct {
	item    int
	verdict Verdict
	runs    []history.Execution // for the tick, or the one that has made it up
	skipped *trace.Event
}

func (t *fate) isSkippedFor(r jobtype.SkipReason) bool {
	return t.skipped != nil && t.skipped.What == r.String()
}

// order is that of verdicts: of several items the last one counts.
var order = []Verdict{NotDue, Ran, FailedOver, Late, Unknown, Skipped}

// maxRuns bounds the runs of an answer.
const maxRuns = 100

// answer makes the answer of facts.
func (f *facts) answer() (a Answer) {
	a = Answer{Job: f.job.Info.Name, At: f.at, Tick: f.tick, Next: f.next, Verdict: NotDue, Causes: []Cause{}, Runs: []Run{}, Unseen: append([]string{}, f.unseen...)}
	if f.none == nil && f.tick.After(f.now) {
		f.none = &Cause{Kind: Between, Until: f.tick, Text: "the tick has not come yet"}
	}
	if f.none != nil || f.tick.IsZero() || len(f.items) == 0 {
		if f.none != nil {
			a.Causes = append(a.Causes, *f.none)
		}
		return a
	}
	fates := make([]fate, 0, len(f.items))
	isOver := true // the runs of the tick had ended at the moment
	for _, item := range f.items {
		fate := f.fate(item)
		fates = append(fates, fate)
		if slices.Index(order, fate.verdict) > slices.Index(order, a.Verdict) {
			a.Verdict = fate.verdict
		}
		for _, x := range fate.runs {
			isOver = isOver && !x.CompleteTime.IsZero() && x.CompleteTime.Before(f.at)
			if len(a.Runs) < maxRuns {
				a.Runs = append(a.Runs, runOf(x))
			}
		}
	}
	if _, isMissing := itemsWhere(fates, missing); isMissing {
		add := func(rules []rule) {
			for _, r := range rules {
				a.Causes = append(a.Causes, r(f, fates)...)
			}
		}
		if add(keeps); !slices.ContainsFunc(a.Causes, func(c Cause) bool { return c.Kind != NoInstance }) {
			add(circumstances)
		}
		if f.changed != nil {
			a.Causes = append(a.Causes, *f.changed)
		}
	}
	a.Causes = append(a.Causes, ends(f, fates)...)
	if isOver && (a.Verdict == Ran || a.Verdict == FailedOver) && f.at.Sub(f.tick) > f.tolerance() {
		a.Verdict = NotDue
		between := Cause{Kind: Between, Since: f.tick, Until: f.next, Text: "the tick before had run, and the next one had not come"}
		if f.next.IsZero() {
			between = Cause{Kind: Expired, Since: f.tick, Text: "that was the last tick"}
		}
		a.Causes = slices.Insert(a.Causes, 0, between)
	}
	return a
}

func runOf(x history.Execution) Run {
	r := Run{ID: x.ID, Item: x.Item, Instance: x.Instance, Outcome: string(x.Outcome), Begun: x.StartTime, Ended: x.CompleteTime}
	if x.Source != 0 {
		r.Source = x.Source.String()
	}
	return r
}

// tolerance is how late a run of the tick may begin.
func (f *facts) tolerance() time.Duration { return f.config.MisfireTolerance + f.config.Jitter }

// fate finds what became of the tick for an item.
func (f *facts) fate(item int) fate {
	t := fate{item: item, verdict: Unknown}
	for _, x := range f.runs {
		if x.Item == item && f.isFor(x) {
			t.runs = append(t.runs, x)
		}
	}
	for i := range f.events {
		e := &f.events[i]
		if e.Execution.Item != item || t.runs != nil {
			continue
		}
		switch {
		case e.Kind == jobtype.EventSkipped && f.covers(e):
			t.skipped, t.verdict = e, Skipped
			return t
		case e.Kind == jobtype.EventMadeUp && f.covers(e):
			// What is on time for its own tick makes up for those before.
			for _, x := range f.runs {
				if x.Item == item && !x.ScheduledTime.Before(e.Execution.ScheduledTime) && x.StartTime.After(f.tick) {
					t.runs, t.verdict = []history.Execution{x}, Late
					return t
				}
			}
		}
	}
	switch {
	case len(t.runs) == 0:
		if f.isKept(item) {
			t.verdict = Skipped
		}
	case slices.ContainsFunc(t.runs, func(x history.Execution) bool { return x.Source == jobtype.SourceFailover }):
		t.verdict = FailedOver
	case !t.runs[0].StartTime.IsZero() && t.runs[0].StartTime.Sub(f.tick) > f.tolerance():
		t.verdict = Late
	default:
		t.verdict = Ran
	}
	return t
}

// isFor reports whether an execution was for the tick. A JVM does not tell what for.
func (f *facts) isFor(x history.Execution) bool {
	if x.ScheduledTime.IsZero() {
		next := f.ticks.Next(f.tick)
		return !x.StartTime.Before(f.tick) && (next.IsZero() || x.StartTime.Before(next))
	}
	return x.ScheduledTime.Equal(f.tick) && x.Source != jobtype.SourceManual
}

// covers reports whether an event about missed ticks is about this one, too: it names the last of them, and how many
// they are. One that tells that they are made up may name the tick after them.
func (f *facts) covers(e *trace.Event) bool {
	first, ticks := e.Execution.ScheduledTime, e.Ticks
	if e.Kind == jobtype.EventMadeUp {
		ticks++
	}
	for n := 1; n < ticks && first.After(f.tick); n++ {
		first = f.ticks.Prev(first.Add(-time.Nanosecond))
	}
	return !e.Execution.ScheduledTime.Before(f.tick) && !first.After(f.tick)
}

// isKept reports whether it is certain that nobody has begun the tick for an item, although no event tells.
func (f *facts) isKept(item int) bool {
	if f.heldAt(Paused, f.tick) != nil || f.disabledAt(item) != nil || f.isDisabled() {
		return true
	}
	i := slices.IndexFunc(f.job.Items, func(i ops.ItemInfo) bool { return i.Item == item })
	isRecorded := f.job.Config.MonitorExecution == jobtype.On && f.job.Info.JVM == 0
	return i >= 0 && isRecorded && f.job.Items[i].LastTick.Before(f.tick) && f.now.Sub(f.tick) > f.tolerance()+soon
}

// soon is how much later than its tolerance a run may be seen.
const soon = 10 * time.Second

// isDisabled reports whether the job was disabled at the tick, or all of its servers are since before it.
func (f *facts) isDisabled() bool {
	h := f.heldAt(ServersDisabled, f.tick)
	return h != nil && (h.isWhole || f.job.Info.Status == ops.JobDisabled && h.Until.IsZero())
}

// disabledAt returns what had disabled an item at the tick; nil if nothing had.
func (f *facts) disabledAt(item int) *held {
	for i := range f.held {
		if h := &f.held[i]; h.Kind == ItemDisabled && h.covers(f.tick) && slices.Contains(h.Items, item) {
			return h
		}
	}
	return nil
}

// itemsWhere returns the items of fates that are wanted; none if they are all.
func itemsWhere(fates []fate, wanted func(*fate) bool) (list []int, isAny bool) {
	for i := range fates {
		if wanted(&fates[i]) {
			list = append(list, fates[i].item)
		}
	}
	if len(list) == len(fates) {
		return nil, len(list) > 0
	}
	return list[:min(len(list), maxRuns)], len(list) > 0
}
