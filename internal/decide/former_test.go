package decide_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// formerly makes the schedule that is recorded one that the process understands, and that has another cron
// than the configuration from now on.
func (f *fixture) formerly(rules ...func(*decide.Rules)) *fixture {
	f.former = &decide.Former{Ticks: f.rules.Ticks}
	return f.another(rules...)
}

func (f *fixture) another(rules ...func(*decide.Rules)) *fixture {
	f.reconfigure(append([]func(*decide.Rules){hourly}, rules...)...)
	return f
}

// The last tick of a schedule that is replaced stays due: it is recorded with the next one.
func TestLastBefore(t *testing.T) {
	says := func(yaml string) func(*fixture) {
		return func(f *fixture) {
			f.put("schedule", "cron: 0/5 * * * * ?\ntimeZone: UTC\nmisfire: true\nsince: 2026-01-05T10:00:00Z\n"+yaml)
			f.formerly()
		}
	}
	const before = "2026-01-05T09:59:00Z"
	for _, c := range []struct {
		name    string
		tree    func(*fixture)
		want    time.Time
		forgone bool
	}{
		{"the last tick", func(f *fixture) { f.formerly() }, tick(3), false},
		{"nobody understands what is recorded", func(f *fixture) { f.another() }, time.Time{}, false},
		{"not all calendars are known", func(f *fixture) { f.formerly(); f.former.CalendarsUnknown = true }, tick(3), true},
		{"misfire was off", func(f *fixture) { f.configure(misfireOff); f.formerly(func(r *decide.Rules) { r.Misfire = true }) }, tick(3), true},
		{"misfire is off now", func(f *fixture) { f.formerly(misfireOff) }, tick(3), false},
		{"there were no records", func(f *fixture) { f.configure(unrecorded); f.formerly(func(r *decide.Rules) { r.Monitor = true }) }, time.Time{}, false},
		{"there never are records", func(f *fixture) { f.configure(unrecorded); f.formerly() }, tick(3), false},
		{"items begin anew", func(f *fixture) { f.formerly(func(r *decide.Rules) { r.Broadcast = true }) }, time.Time{}, false},
		{"it had ended", func(f *fixture) { f.formerly(); f.former.Ticks = decide.UpTo(tick(2), f.former.Ticks) }, tick(2), false},
		{"none had come", func(f *fixture) { f.formerly(); f.now = tick(1).Add(-1) }, time.Time{}, false},
		{"none had come, and one was left of the schedule before that", func(f *fixture) { says("lastBefore: " + before)(f); f.now = tick(1).Add(-1) }, tick(-12), false},
		{"… which was forgone", func(f *fixture) { says("forgone: true\nlastBefore: " + before)(f); f.now = tick(1).Add(-1) }, tick(-12), true},
		{"one has come since", says("forgone: true\nlastBefore: " + before), tick(3), false},
		{"in a pause", says("paused: 2026-01-05T10:00:11Z"), tick(2), false},
		{"in a pause whose ticks are made up", says("makeUp: true\npaused: 2026-01-05T10:00:11Z"), tick(3), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t)
			f.members("A").leader("A").now = tick(3).Add(time.Second)
			c.tree(f)
			f.changes("A", puts(f.pass("A"))...)
			f.former = nil
			p := f.pass("A")
			if !p.IsScheduleEffective() || !p.Schedule.Since.Equal(f.now) {
				t.Fatalf("in force: %+v", p.Schedule)
			}
			if s := p.Schedule; !s.LastBefore.Equal(c.want) || s.Forgone != c.forgone {
				t.Errorf("got %v, forgone %t; want %v, %t", s.LastBefore, s.Forgone, c.want, c.forgone)
			}
			if !p.IsPaused() && !p.LastTick().Equal(c.want) {
				t.Errorf("the last tick is %v, want %v", p.LastTick(), c.want)
			}
		})
	}
}

// What means the same as what is recorded stays in force since then, in its new words.
func TestSameScheduleInOtherWords(t *testing.T) {
	otherwise := func(r *decide.Rules) { r.Cron = "0/5 * * * * ? *" }
	for _, c := range []struct {
		name string
		next []func(*decide.Rules)
		same bool
	}{
		{"in other words", nil, true},
		{"and misfire is off now", []func(*decide.Rules){misfireOff}, false},
		{"and it ends now", []func(*decide.Rules){func(r *decide.Rules) { r.ExpiresAt = tick(100) }}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t)
			f.members("A").leader("A").now = tick(3).Add(time.Second)
			f.put("schedule", "cron: 0/5 * * * * ?\ntimeZone: UTC\nmisfire: true\nsince: 2026-01-05T10:00:00Z\nlastBefore: 2026-01-05T09:59:00Z\nmakeUpTo: 2026-01-05T10:00:00Z\n")
			f.former = &decide.Former{Ticks: f.rules.Ticks, SameExpressions: true, SameTicks: true}
			f.reconfigure(append(c.next, otherwise)...)
			f.changes("A", puts(f.pass("A"))...)
			p := f.pass("A")
			if got := p.Schedule.Since.Equal(begin) && p.Schedule.LastBefore.Equal(tick(-12)); got != c.same || p.Schedule.Cron != "0/5 * * * * ? *" || !p.Schedule.MakeUpTo.Equal(begin) {
				t.Errorf("%+v", p.Schedule.ScheduleDocument)
			}
			if last := p.LastTick(); !last.Equal(tick(3)) {
				t.Errorf("the last tick is %v, want %v", last, tick(3))
			}
		})
	}
	t.Run("the ticks of a job that ends after some go on being counted", func(t *testing.T) {
		f := given(t, func(r *decide.Rules) { r.ExpiryTicks = 5 })
		f.members("A").leader("A").now = tick(3).Add(time.Second)
		f.put("schedule", "cron: 0/5 * * * * ?\ntimeZone: UTC\nmisfire: true\nexpiryTicks: 5\ncounted: 2026-01-05T10:00:00Z\nuntil: 2026-01-05T10:00:25Z\nsince: 2026-01-05T10:00:00Z\n")
		f.former = &decide.Former{Ticks: f.rules.Ticks, SameExpressions: true}
		f.reconfigure(otherwise)
		f.changes("A", puts(f.pass("A"))...)
		if until := f.pass("A").Schedule.Until; !until.Equal(tick(5)) {
			t.Errorf("it ends at %v, want %v", until, tick(5))
		}
	})
}

// What is done about the last tick of the schedule before.
func TestTickOfScheduleBefore(t *testing.T) {
	const record = "cron: 0 0 * * * ?\ntimeZone: UTC\nsince: 2026-01-05T10:00:18Z\nlastBefore: 2026-01-05T10:00:15Z\n"
	const on, off = "misfire: true\n", "misfire: false\n"
	for _, c := range []struct {
		name, record string
		late         time.Duration
		fired        time.Time
		runs         bool
		want         string
	}{
		{"it was begun", on, time.Minute, tick(3), false, ""},
		{"it was missed", on, time.Minute, tick(2), false, "0 made up"},
		{"it has just come", on, time.Second, tick(2), false, "0 begins"},
		{"misfire is off now", off, time.Minute, tick(2), false, "too late"},
		{"it is forgone", on + "forgone: true\n", time.Minute, tick(2), false, "schedule changed"},
		{"it is forgone, and has just come", on + "forgone: true\n", time.Second, tick(2), false, "0 begins"},
		{"it is forgone, and a pause owes it", on + "forgone: true\nmakeUpTo: 2026-01-05T10:00:20Z\n", time.Minute, tick(2), false, "0 made up"},
		{"the item runs", on, time.Minute, tick(2), true, "flagged"},
		{"the item runs, and it is forgone", on + "forgone: true\n", time.Minute, tick(2), true, ""},
		{"a tick of the new one has come since", on, time.Hour, tick(2), false, "720 made up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t)
			f.configure(hourly, func(r *decide.Rules) { r.Misfire = strings.Contains(c.record, on) })
			f.put("schedule", record+c.record)
			f.members("A").own(0, "A").fired(0, c.fired)
			if c.runs {
				f.put("sharding/0/running", "A")
			}
			f.now = tick(3).Add(c.late)
			p := f.pass("A")
			got := ""
			for _, d := range p.Due(f.work) {
				what := map[decide.Source]string{decide.Normal: "0 begins", decide.Misfire: "0 made up"}[d.Source]
				if got += what; !d.Tick.Equal(tick(3)) {
					got = strings.Replace(got, "0 ", "720 ", 1)
				}
			}
			for _, change := range p.Skip(f.work) {
				got += map[decide.SkipReason]string{decide.TooLate: "too late", decide.ScheduleChanged: "schedule changed"}[change.Parts[0].Skips.Reason]
			}
			if len(p.MarkMisfire(f.work)) > 0 {
				got += "flagged"
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
