package decide_test

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

func misfireOff(r *decide.Rules) { r.Misfire = false }

func TestLastTick(t *testing.T) {
	for _, c := range []struct {
		name string
		now  time.Time
		tree func(*fixture)
		want time.Time
	}{
		{"between ticks", tick(3).Add(2 * time.Second), nil, tick(3)},
		{"at a tick", tick(3), nil, tick(3)},
		{"just before one", tick(3).Add(-time.Nanosecond), nil, tick(2)},
		{"none since the schedule is in force", tick(1).Add(-time.Second), nil, time.Time{}},
		{"nobody has recorded the schedule", tick(3), func(f *fixture) { f.remove("schedule") }, time.Time{}},
		{"another schedule is recorded", tick(3), func(f *fixture) { f.reconfigure(func(r *decide.Rules) { r.Cron = "0/10 * * * * ?" }) }, time.Time{}},
		{"another zone is recorded", tick(3), func(f *fixture) { f.reconfigure(func(r *decide.Rules) { r.TimeZone = "GMT+08:00" }) }, time.Time{}},
		{"misfire was switched, and that is not recorded", tick(3), func(f *fixture) { f.reconfigure(misfireOff) }, time.Time{}},
		{"records were switched, and that is not recorded", tick(3), func(f *fixture) { f.reconfigure(func(r *decide.Rules) { r.Monitor = false }) }, time.Time{}},
		{"the record cannot be read", tick(3), func(f *fixture) { f.put("schedule", "\t") }, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t)
			if c.tree != nil {
				c.tree(f)
			}
			f.now = c.now
			if got := f.pass("A").LastTick(); !got.Equal(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	t.Run("a one-off job", func(t *testing.T) {
		f := given(t, func(r *decide.Rules) { r.Cron = "" })
		if got := f.pass("A").LastTick(); !got.IsZero() {
			t.Errorf("got %v", got)
		}
	})
}

// TestJudge: what is to be done about the last tick of an idle item shows in the steps that
// do it.
func TestJudge(t *testing.T) {
	const notDue, onTime, late, passed = "not due", "begins", "is made up", "is skipped"
	window := func(r *decide.Rules) { r.Window = time.Minute }
	tolerant := func(r *decide.Rules) { r.Tolerance = 5 * time.Second }
	at := func(at time.Time) func(*fixture) { return func(f *fixture) { f.fired(0, at) } }
	flagged := func(at time.Time) func(*fixture) {
		return func(f *fixture) { f.fired(0, at).put("sharding/0/misfire", "") }
	}
	slow := func(f *fixture) { f.fired(0, tick(4)); f.slack = 2 * time.Second }
	for _, c := range []struct {
		name  string
		rules func(*decide.Rules)
		item  func(*fixture)
		late  time.Duration
		want  string
	}{
		{"begun", nil, at(tick(5)), 0, notDue},
		{"begun for a later tick", nil, at(tick(6)), 0, notDue},
		{"begun, although flagged", nil, flagged(tick(5)), 0, notDue},
		{"not known to the leader", nil, func(f *fixture) { f.remove("sharding/0/fired") }, 0, notDue},
		{"just due", nil, at(tick(4)), 0, onTime},
		{"just within the tolerance", nil, at(tick(4)), time.Second, onTime},
		{"just beyond it", nil, at(tick(4)), time.Second + 1, late},
		{"within a longer tolerance", tolerant, at(tick(4)), 5 * time.Second, onTime},
		{"within the slack", nil, slow, 3 * time.Second, onTime},
		{"just beyond the slack", nil, slow, 3*time.Second + 1, late},
		{"on time, after ticks that were missed", nil, at(tick(0)), 0, onTime},
		{"just due, and the one before was missed while it ran", nil, flagged(tick(3)), 0, late},
		{"missed, misfire off", misfireOff, at(tick(4)), 2 * time.Second, passed},
		{"just due, misfire off", misfireOff, at(tick(4)), time.Second, onTime},
		{"just due, misfire off, a flag is left", misfireOff, flagged(tick(4)), 0, onTime},
		{"missed within the window", window, at(tick(4)), time.Minute, late},
		{"missed before the window", window, at(tick(4)), time.Minute + 1, passed},
		{"missed before the window while it ran", window, flagged(tick(4)), time.Hour, late},
		{"missed, for all that is known", nil, at(time.Time{}), time.Minute, passed},
		{"just due, and nothing is known", nil, at(time.Time{}), 0, onTime},
		{"no tick yet", nil, at(tick(0)), -tick(5).Sub(begin) + time.Second, notDue},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t, someOf(c.rules)...)
			// The schedule has one tick in a day: no other comes, however late this one is.
			f.configure(func(r *decide.Rules) { r.Cron = "25 0 10 * * ?" })
			f.members("A").own(0, "A")
			c.item(f)
			f.now = tick(5).Add(c.late)
			p := f.pass("A")
			got := notDue
			for _, d := range p.Due(f.work) {
				if got = late; d.Source == decide.Normal {
					got = onTime
				}
				if d.Item != 0 || !d.Tick.Equal(tick(5)) {
					t.Errorf("%+v is due", d)
				}
			}
			if n := len(p.Skip(f.work)); n > 0 {
				if got != notDue {
					t.Errorf("it %s, and is skipped", got)
				}
				got = passed
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
