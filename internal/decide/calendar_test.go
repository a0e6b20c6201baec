package decide_test

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// plantCalendar writes the node of a calendar, and returns its version.
func (f *fixture) plantCalendar(name, value string) int64 {
	f.Helper()
	if err := f.store.Plant(jobtree.Calendar(name), []byte(value)); err != nil {
		f.Fatal(err)
	}
	n, _ := f.store.Snapshot().Get(jobtree.Calendar(name))
	return n.Version
}

// The leader records the calendars that it knows, if their nodes say the same or if they are
// recorded so. Otherwise the record stays. No tick is due by other calendars than the recorded.
func TestCalendarsInForce(t *testing.T) {
	for _, c := range []struct {
		name      string
		recorded  string
		calendars []decide.Calendar // with the version of "a" to come
		hourly    bool              // the expression is another than the recorded
		want      string            // what is recorded then
		isInForce bool
	}{
		{"none", "", nil, false, "", true},
		{"the recorded", "a=1", []decide.Calendar{{Name: "a", Sum: "1", Current: true}}, false, "a=1", true},
		{"a new one", "", []decide.Calendar{{Name: "a", Sum: "1", Current: true}}, false, "a=1", true},
		{"one that has changed", "a=1", []decide.Calendar{{Name: "a", Sum: "2", Current: true}}, false, "a=2", true},
		{"one that nobody names any more", "a=1", nil, false, "", true},
		{"it is not known", "a=1", []decide.Calendar{{Name: "a"}}, false, "a=1", false},
		{"it is not known, and the expression is another", "a=1", []decide.Calendar{{Name: "a"}}, true, "a=1", false},
		{"a stranger has recorded it so", "a=", []decide.Calendar{{Name: "a"}}, false, "a=", false},
		{"its node is gone", "a=1", []decide.Calendar{{Name: "a", Sum: "1"}}, false, "a=1", true},
		{"its node is gone, and the expression is another", "a=1", []decide.Calendar{{Name: "a", Sum: "1"}}, true, "a=1", true},
		{"its node is gone, and another is recorded", "a=2", []decide.Calendar{{Name: "a", Sum: "1"}}, false, "a=2", false},
		{"its node is gone, and it is not recorded", "", []decide.Calendar{{Name: "a", Sum: "1"}}, false, "", false},
		{"one of two is gone", "b=1", []decide.Calendar{{Name: "a", Sum: "1", Current: true}, {Name: "b", Sum: "1"}}, false, "a=1,b=1", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t)
			f.members("A").leader("A")
			document, err := jobtree.EncodeSchedule(jobtree.ScheduleDocument{Cron: f.rules.Cron, TimeZone: f.rules.TimeZone, Misfire: true, Calendars: c.recorded, Since: begin})
			if err != nil {
				t.Fatal(err)
			}
			f.put("schedule", string(document))
			version := f.plantCalendar("a", "x")
			f.reconfigure(func(r *decide.Rules) {
				r.Calendars = c.calendars
				for i := range r.Calendars {
					r.Calendars[i].Version = version
				}
				if c.hourly {
					hourly(r)
				}
			})
			f.changes("A", puts(f.pass("A"))...)
			p := f.pass("A")
			if p.Schedule.Calendars != c.want || p.IsScheduleEffective() != c.isInForce || !c.isInForce && !p.LastTick().IsZero() {
				t.Errorf("recorded %q, in force %v, last tick %v", p.Schedule.Calendars, p.IsScheduleEffective(), p.LastTick())
			}
			if more := puts(f.pass("A")); len(more) > 0 {
				t.Errorf("there is no end to it: %v", more[0].Ops)
			}
			if c.recorded != c.want && !p.Schedule.Since.Equal(f.now) {
				t.Errorf("in force since %v", p.Schedule.Since)
			}
		})
	}
}

// A leader whose view is late does not put an earlier calendar in force again.
func TestLateCalendar(t *testing.T) {
	for _, meanwhile := range []conflict{
		{"it has changed", func(f *fixture) { f.plantCalendar("a", "y") }},
		{"it is gone", func(f *fixture) { f.must(0, coord.Delete(jobtree.Calendar("a"))) }},
	} {
		meanwhile.run(t, func(f *fixture) {
			f.members("A").leader("A")
			version := f.plantCalendar("a", "x")
			f.reconfigure(func(r *decide.Rules) {
				r.Calendars = []decide.Calendar{{Name: "a", Sum: "1", Current: true, Version: version}}
			})
		}, puts)
	}
}

// Who founds a job without knowing its calendars leaves the schedule to a later pass.
func TestFoundWithoutTheCalendar(t *testing.T) {
	f := given(t, func(r *decide.Rules) { r.Calendars = []decide.Calendar{{Name: "a"}} })
	f.remove("schedule")
	p := f.pass("A")
	bootstrapper := p.Bootstrapper()
	if bootstrapper == nil {
		t.Fatal("it may not found the job")
	}
	change, err := p.Bootstrap(bootstrapper, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.changes("A", *change), "\n"); strings.Contains(got, "schedule") || !strings.Contains(got, "leader/election/instance") {
		t.Errorf("got %s", got)
	}
}

// Whoever remembers another calendar than is recorded, and cannot read it any more, cannot go on.
func TestRemembersOther(t *testing.T) {
	schedule := &jobtree.Schedule{ScheduleDocument: jobtree.ScheduleDocument{Calendars: "a=1,b=2"}}
	for _, c := range []struct {
		name      string
		calendars []decide.Calendar
		want      bool
	}{
		{"none", nil, false},
		{"the recorded", []decide.Calendar{{Name: "a", Sum: "1"}, {Name: "b", Sum: "2"}}, false},
		{"another, which can be read", []decide.Calendar{{Name: "a", Sum: "3", Current: true}}, false},
		{"another, which is gone", []decide.Calendar{{Name: "a", Sum: "1"}, {Name: "b", Sum: "3"}}, true},
		{"one that is not known", []decide.Calendar{{Name: "a"}}, false},
	} {
		r := decide.Rules{Calendars: c.calendars}
		if got := r.RemembersOtherCalendar(schedule); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if r.RemembersOtherCalendar(nil) {
			t.Errorf("%s: nothing is recorded", c.name)
		}
	}
}
