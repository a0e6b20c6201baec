package why

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// noon is the tick of the tests, of a job that ticks at each whole hour.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return noon.Add(d) }

const hourly = "jobName: settle\ncron: 0 0 * * * ?\ntimeZone: UTC\nshardingTotalCount: 2\n"

func configOf(t *testing.T, document string) jobtype.Config {
	t.Helper()
	c, err := jobtype.DecodeConfig([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// world is a job as it is at one o'clock, with what has happened.
type world struct {
	at        time.Time // noon if it is zero
	document  string    // hourly if it is empty
	since     time.Time // of the schedule
	changes   []ops.Change
	calendars []*ops.Calendar
	runs      []history.Execution
	events    []trace.Event
	begun     time.Time // last tick of the items in the tree
	isEmpty   bool      // no instance is there now
	paused    ops.PauseInfo
	disabled  []int // items that are disabled now
}

func (w world) answer(t *testing.T) Answer {
	t.Helper()
	return w.facts(t).answer()
}

func (w world) facts(t *testing.T) *facts {
	t.Helper()
	if w.at.IsZero() {
		w.at = noon
	}
	if w.document == "" {
		w.document = hourly
	}
	config := configOf(t, w.document)
	f := &facts{at: w.at, now: after(50 * time.Minute), items: []int{0, 1}, runs: w.runs, events: w.events, changes: w.changes}
	f.job = &ops.JobDetail{Info: ops.JobInfo{Name: "settle", Paused: w.paused}, Config: config}
	if !w.isEmpty {
		f.job.Instances = []ops.InstanceInfo{{ID: "10.0.0.1@-@1"}}
	}
	for item := range 2 {
		f.job.Items = append(f.job.Items, ops.ItemInfo{Item: item, LastTick: w.begun, Disabled: slices.Contains(w.disabled, item)})
	}
	f.held = f.holding()
	f.due = dueAt(w.at, versions(config, w.since, w.changes), w.changes, w.calendars)
	return f
}

// run is an execution of an item for noon that begins some time later.
func run(item int, late time.Duration, outcome history.Outcome) history.Execution {
	return history.Execution{
		ID: "x", Item: item, Instance: "10.0.0.1@-@1", Source: jobtype.SourceNormal, ScheduledTime: noon, StartTime: after(late), CompleteTime: after(late + time.Minute), Outcome: outcome,
	}
}

func by(instance string, x history.Execution) history.Execution {
	return with(x, func(x *history.Execution) { x.Instance = instance })
}

func with(x history.Execution, change func(*history.Execution)) history.Execution {
	change(&x)
	return x
}

func both(late time.Duration) []history.Execution {
	return []history.Execution{run(0, late, "OK"), run(1, late, "OK")}
}

func event(at time.Duration, kind jobtype.EventKind, instance, what string) trace.Event {
	return trace.Event{Time: after(at), Kind: kind, Job: "settle", Instance: instance, What: what}
}

// passed is an event about missed ticks of an item, the last of them some time after noon.
func passed(item int, kind jobtype.EventKind, last time.Duration, ticks int, reason jobtype.SkipReason) trace.Event {
	e := event(last+time.Minute, kind, "10.0.0.1@-@1", reason.String())
	e.Execution, e.Ticks = jobtype.Execution{Item: item, ScheduledTime: after(last)}, ticks
	return e
}

func change(at time.Duration, action ops.Action, detail string) ops.Change {
	return ops.Change{ID: at.String(), At: after(at), By: "anna", Why: "the bank moves", Job: "settle", Action: action, Detail: detail}
}

func saying(c ops.Change, before, after string) ops.Change {
	c.Before, c.After = before, after
	return c
}

func calendarOf(document string) *ops.Calendar {
	return &ops.Calendar{Name: "bank", Document: []byte(document)}
}

const (
	closed   = "timeZone: UTC\ndates: [2026-11-30]\n"
	open     = "timeZone: UTC\ndates: [2026-12-25]\n"
	holidays = hourly + "props: {schedule.calendars: bank}\n"
)

func TestAnswers(t *testing.T) {
	daily := strings.Replace(hourly, "0 0 * * * ?", "0 0 3 * * ?", 1)
	lives := event(-time.Hour, jobtype.EventJoined, "10.0.0.1@-@1", "")
	works := event(time.Minute, jobtype.EventItems, "10.0.0.1@-@1", "")
	for name, tc := range map[string]struct {
		world
		verdict Verdict
		tick    time.Time // noon if it is zero
		causes  string    // kinds, with items if they are not all
	}{
		// Whether there was a tick.
		"in time":                {world: world{runs: both(0)}, verdict: Ran},
		"in time, but later":     {world: world{at: after(30 * time.Minute), runs: both(0)}, verdict: NotDue, causes: "between"},
		"while it runs":          {world: world{at: after(30 * time.Second), runs: both(0)}, verdict: Ran},
		"no cron":                {world: world{document: strings.Replace(hourly, "cron: 0 0 * * * ?\n", "", 1)}, verdict: NotDue, tick: time.Time{}.Add(1), causes: "one-off"},
		"a calendar":             {world: world{document: holidays, calendars: []*ops.Calendar{calendarOf(closed)}}, verdict: NotDue, causes: "calendar"},
		"a calendar, not then":   {world: world{document: holidays, calendars: []*ops.Calendar{calendarOf(closed)}, changes: []ops.Change{{Job: "", At: after(time.Minute), Action: ops.ActionPutCalendar, Detail: "calendar bank", Before: open, After: closed}}, runs: both(0)}, verdict: Ran},
		"a calendar, only then":  {world: world{document: holidays, calendars: []*ops.Calendar{calendarOf(open)}, changes: []ops.Change{{Job: "", At: after(time.Minute), Action: ops.ActionPutCalendar, Detail: "calendar bank", Before: closed, After: open}}}, verdict: NotDue, causes: "calendar"},
		"not there yet":          {world: world{changes: []ops.Change{saying(change(time.Minute, ops.ActionCreate, ""), "", hourly)}}, verdict: NotDue, tick: time.Time{}.Add(1), causes: "created"},
		"another schedule then":  {world: world{document: daily, changes: []ops.Change{saying(change(time.Minute, ops.ActionUpdate, ""), hourly, daily)}, runs: both(0)}, verdict: Ran},
		"another schedule since": {world: world{at: after(time.Minute), changes: []ops.Change{saying(change(-time.Minute, ops.ActionUpdate, ""), daily, hourly)}, runs: both(0)}, verdict: Ran},
		"the tick before a change": {world: world{at: after(-time.Second), changes: []ops.Change{saying(change(-time.Minute, ops.ActionUpdate, ""), daily, hourly)}, begun: noon}, verdict: Unknown,
			tick: noon.Add(-9 * time.Hour)},
		"a program's schedule": {world: world{since: after(time.Minute), begun: noon}, verdict: Unknown, causes: "schedule-changed"},
		"to come":              {world: world{at: after(time.Hour)}, verdict: NotDue, tick: after(time.Hour), causes: "between"},
		"a cut configuration":  {world: world{document: daily, changes: []ops.Change{saying(change(time.Minute, ops.ActionUpdate, ""), hourly+"description: …", daily)}, begun: noon}, verdict: Unknown, tick: after(-9 * time.Hour), causes: "schedule-changed"},
		"its end":              {world: world{at: after(30 * time.Minute), document: hourly + "props: {expiry.at: '2026-11-30T12:00:00Z'}\n", runs: both(0)}, verdict: NotDue, causes: "expired"},

		// What keeps it from beginning.
		"paused":            {world: world{changes: []ops.Change{change(-time.Hour, ops.ActionPause, ""), change(time.Minute, ops.ActionResume, "")}}, verdict: Skipped, causes: "paused"},
		"paused before":     {world: world{changes: []ops.Change{change(-time.Hour, ops.ActionPause, ""), change(-time.Minute, ops.ActionResume, "")}, runs: both(0)}, verdict: Ran},
		"paused, made up":   {world: world{changes: []ops.Change{change(-time.Hour, ops.ActionPause, ""), change(time.Minute, ops.ActionResume, "")}, runs: both(time.Minute)}, verdict: Late, causes: "paused"},
		"an item":           {world: world{disabled: []int{1}, changes: []ops.Change{change(-time.Hour, ops.ActionDisableItems, "items 1-3")}, runs: []history.Execution{run(0, 0, "OK")}}, verdict: Skipped, causes: "item-disabled [1]"},
		"an item by events": {world: world{runs: []history.Execution{run(0, 0, "OK")}, events: []trace.Event{passed(1, jobtype.EventSkipped, 0, 1, jobtype.SkipItemDisabled)}}, verdict: Skipped, causes: "item-disabled [1]"},
		"servers": {world: world{changes: []ops.Change{change(-time.Hour, ops.ActionDisableServers, "servers 10.0.0.1")}, events: []trace.Event{
			passed(0, jobtype.EventSkipped, 0, 1, jobtype.SkipServersDisabled), passed(1, jobtype.EventSkipped, 2*time.Hour, 3, jobtype.SkipServersDisabled),
		}}, verdict: Skipped, causes: "servers-disabled"},
		"another tick is skipped": {world: world{runs: both(0)[:1], begun: noon, events: []trace.Event{lives, works, passed(1, jobtype.EventSkipped, 2*time.Hour, 2, jobtype.SkipTooLate)}}, verdict: Unknown},
		"too late":                {world: world{runs: both(0)[:1], events: []trace.Event{passed(1, jobtype.EventSkipped, 0, 1, jobtype.SkipTooLate)}}, verdict: Skipped, causes: "too-late [1]"},
		"the run before": {world: world{runs: []history.Execution{
			with(run(0, -time.Hour, "OK"), func(x *history.Execution) { x.ScheduledTime, x.CompleteTime = after(-time.Hour), after(5*time.Minute) }), run(0, 5*time.Minute, "OK"), run(1, 0, "OK"),
		}}, verdict: Late, causes: "still-running [0]"},
		"the run before, skipped": {world: world{runs: both(0)[1:], events: []trace.Event{passed(0, jobtype.EventSkipped, 0, 1, jobtype.SkipWhileRunning)}}, verdict: Skipped, causes: "still-running [0]"},
		"nobody was there":        {world: world{runs: []history.Execution{by("10.0.0.1@-@2", run(0, 10*time.Minute, "OK")), by("10.0.0.1@-@2", run(1, 10*time.Minute, "OK"))}, events: []trace.Event{lives, event(-time.Minute, jobtype.EventLeft, "10.0.0.1@-@1", ""), event(9*time.Minute, jobtype.EventJoined, "10.0.0.1@-@2", "")}}, verdict: Late, causes: "no-instance"},
		"nobody has begun it":     {world: world{begun: after(-time.Hour), isEmpty: true}, verdict: Skipped, causes: "no-instance"},
		"somebody was there":      {world: world{begun: after(-time.Hour), events: []trace.Event{lives, works}}, verdict: Skipped},
		"nothing is known":        {world: world{begun: noon}, verdict: Unknown},
		"made up by a later tick": {world: world{runs: []history.Execution{run(0, 0, "OK"), with(run(1, time.Hour, "OK"), func(x *history.Execution) { x.ScheduledTime, x.Source = after(time.Hour), jobtype.SourceMisfire })},
			events: []trace.Event{lives, works, passed(1, jobtype.EventMadeUp, time.Hour, 2, 0)}}, verdict: Late},
		"made up by a tick in time": {world: world{runs: []history.Execution{run(0, 0, "OK"), with(run(1, time.Hour, "OK"), func(x *history.Execution) { x.ScheduledTime = after(time.Hour) })},
			events: []trace.Event{lives, works, passed(1, jobtype.EventMadeUp, time.Hour, 1, 0)}}, verdict: Late},
		"a thread": {world: world{runs: []history.Execution{run(0, 0, "OK"), with(run(1, 5*time.Second, "OK"), func(x *history.Execution) { x.Waited = 5 * time.Second })}}, verdict: Late, causes: "no-thread [1]"},

		// How runs have ended, and what was so.
		"killed":     {world: world{runs: []history.Execution{run(0, 0, "OK"), run(1, 0, "KILLED")}, changes: []ops.Change{change(time.Minute, ops.ActionKill, "item 1")}}, verdict: Ran, causes: "killed [1]"},
		"failed":     {world: world{runs: []history.Execution{run(0, 0, "FAILED"), run(1, 0, "OK")}}, verdict: Ran, causes: "failed [0]"},
		"a failover": {world: world{runs: []history.Execution{run(0, 0, "OK"), run(1, 0, "LOST"), with(run(1, time.Minute, "OK"), func(x *history.Execution) { x.Source = jobtype.SourceFailover })}}, verdict: FailedOver, causes: "cut-short [1]"},
		"circumstances": {world: world{runs: both(2 * time.Minute), changes: []ops.Change{saying(change(-time.Minute, ops.ActionUpdate, ""), hourly+"description: x\n", hourly)}, events: []trace.Event{
			lives, event(-30*time.Minute, jobtype.EventFault, "10.0.0.1@-@1", "store"), event(-20*time.Minute, jobtype.EventFault, "10.0.0.1@-@1", "clock"),
			with1(event(-10*time.Minute, jobtype.EventFault, "10.0.0.1@-@1", "clock"), func(e *trace.Event) { e.Over = true }),
			event(-time.Minute, jobtype.EventLeft, "10.0.0.2@-@1", ""), event(time.Minute, jobtype.EventJoined, "10.0.0.2@-@2", ""), works,
		}}, verdict: Late, causes: "fault configured new-instances"},
	} {
		t.Run(name, func(t *testing.T) {
			a := tc.answer(t)
			var kinds []string
			for _, c := range a.Causes {
				kind := string(c.Kind)
				if c.Items != nil {
					kind += " [" + commas(c.Items) + "]"
				}
				if kinds = append(kinds, kind); c.Text == "" {
					t.Errorf("%s has no text", c.Kind)
				}
			}
			if tc.tick.IsZero() {
				tc.tick = noon
			} else if tc.tick.Year() == 1 {
				tc.tick = time.Time{}
			}
			agree(t, tc.world, a)
			if causes := strings.Join(kinds, " "); a.Verdict != tc.verdict || causes != tc.causes || !a.Tick.Equal(tc.tick) {
				t.Errorf("%s, %q, tick %s; want %s, %q, %s: %+v", a.Verdict, causes, a.Tick, tc.verdict, tc.causes, tc.tick, a)
			}
		})
	}
}

func with1(e trace.Event, change func(*trace.Event)) trace.Event {
	change(&e)
	return e
}

// A cause says who, why, from when and until when; what still holds has the command that ends it.
func TestCauses(t *testing.T) {
	said := Cause{Since: after(-time.Hour), By: "anna", Why: "the bank moves"}
	of := func(kind Kind, until time.Duration, text, command string) Cause {
		c := said
		if c.Kind, c.Text, c.Command = kind, text, command; until > 0 {
			c.Until = after(until)
		}
		return c
	}
	gone := of(NoInstance, 9*time.Minute, "no instance of the job was there", "elasticjob doctor settle")
	gone.Since = after(-time.Minute)
	killed := of(Killed, time.Minute, "an operator has ended it", "elasticjob history --id x")
	killed.Since, killed.Items = noon, []int{1}
	disabled := of(ItemDisabled, 0, "an operator had disabled it", "elasticjob enable settle --items 0,1")
	disabled.Items = []int{0, 1}
	for name, tc := range map[string]struct {
		world
		want Cause
	}{
		"a pause":         {world{paused: ops.PauseInfo{Since: after(-time.Hour), By: "anna", Why: "the bank moves"}}, of(Paused, 0, "no tick begins during a pause", "elasticjob resume settle")},
		"a pause is over": {world{changes: []ops.Change{change(-time.Hour, ops.ActionPause, ""), change(time.Minute, ops.ActionResume, "")}}, of(Paused, time.Minute, "no tick begins during a pause", "")},
		"disabled items":  {world{disabled: []int{0, 1}, changes: []ops.Change{change(-time.Hour, ops.ActionDisableItems, "items 0-1")}}, disabled},
		"a kill": {world{runs: []history.Execution{run(0, 0, "OK"), run(1, 0, "KILLED")}, changes: []ops.Change{
			change(30*time.Second, ops.ActionKill, "items 0-1"), {At: after(40 * time.Second), By: "ben", Action: ops.ActionKill, Detail: "item 2"},
		}}, killed},
		"a shutdown": {world{begun: after(-time.Hour), changes: []ops.Change{change(-2*time.Minute, ops.ActionShutdown, "instances 10.0.0.1@-@1")}, events: []trace.Event{
			event(-time.Hour, jobtype.EventJoined, "10.0.0.1@-@1", ""), event(-time.Minute, jobtype.EventLeft, "10.0.0.1@-@1", ""), event(9*time.Minute, jobtype.EventJoined, "10.0.0.1@-@2", ""),
		}}, gone},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.answer(t).Causes; len(got) == 0 || !reflect.DeepEqual(got[0], tc.want) {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}
