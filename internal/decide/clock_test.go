package decide_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// ahead is a clock of the store that the local one is ahead of.
func (f *fixture) ahead(d time.Duration) *fixture {
	f.clock = decide.Clock{Known: true, Store: f.now.Add(-d), Ahead: d}
	return f
}

// An instance whose clock is far off has no items, and does not lead, as long as somebody's
// clock is right. Where nobody's is, all go on.
func TestClockFarOff(t *testing.T) {
	const far = "clockFar: true\n"
	refuses := func(f *fixture) { f.refuse("B", f.pass("A").Config.Modified) }
	for _, tt := range []struct {
		name     string
		own      bool // the clock of A is far off
		tree     func(*fixture)
		stops    bool
		eligible []string
	}{
		{"all are right", false, nil, false, []string{"A", "B"}},
		{"own is off", true, nil, true, []string{"B"}},
		{"another's is off", false, func(f *fixture) { f.put("sessions/B", far) }, false, []string{"A"}},
		{"the store's is off", true, func(f *fixture) { f.put("sessions/B", far) }, false, []string{"A", "B"}},
		{"it is alone", true, func(f *fixture) { f.crash("B") }, false, []string{"A"}},
		{"whose clock is right refuses the configuration", true, refuses, false, []string{"A"}},
		{"whose clock is right is disabled", true, func(f *fixture) { f.disable("B") }, false, []string{"A"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := given(t).members("A", "B")
			if tt.tree != nil {
				tt.tree(f)
			}
			if tt.own {
				f.ahead(11 * time.Second)
			}
			p := f.pass("A")
			if p.ClockStops() != tt.stops || p.MayLead() == tt.stops || p.IsActive() == tt.stops {
				t.Errorf("stops %v, may lead %v, is active %v", p.ClockStops(), p.MayLead(), p.IsActive())
			}
			if got := eligible(p); !slices.Equal(got, tt.eligible) {
				t.Errorf("%v may have items, want %v", got, tt.eligible)
			}
		})
	}
}

// How far the local clock is from the store's shows in what an instance says about itself.
func TestCompareClocks(t *testing.T) {
	const far = 2 * decide.ClockTolerance
	for _, tt := range []struct {
		ahead, allowed time.Duration
		off, far       bool
	}{
		{ahead: 4 * time.Second},
		{ahead: 4 * time.Second, allowed: 2 * time.Second, off: true},
		{ahead: -4 * time.Second, allowed: 2 * time.Second, off: true},
		{ahead: 4 * time.Second, allowed: 4 * time.Second},
		{ahead: far},
		{ahead: far + 1, far: true},
		{ahead: 11 * time.Second, far: true},
		{ahead: -11 * time.Second, allowed: time.Minute, far: true},
	} {
		f := given(t, func(r *decide.Rules) { r.MaxTimeDiff = tt.allowed }).members("A", "B").ahead(tt.ahead)
		p := f.pass("A")
		f.changes("A", one(p.Announce())...)
		says := f.pass("A").Sessions["A"]
		if says.ClockOff != tt.off || says.ClockFar != tt.far || p.ClockOff() != tt.off {
			t.Errorf("%v ahead, %v allowed: off %v, says %+v", tt.ahead, tt.allowed, p.ClockOff(), says.SessionDocument)
		}
		if p.ClockStops() != (tt.off || tt.far) {
			t.Errorf("%v ahead, %v allowed: stops %v", tt.ahead, tt.allowed, p.ClockStops())
		}
	}
}

func rewinds(p pass) []decide.Change { return p.Rewind() }

// Only a leader whose clock agrees with the store's may say what is from the future.
func TestRewind(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, tt := range []struct {
		name          string
		fired         time.Duration // from the store's now
		local         time.Duration // of the local clock, from the store's
		known, rewind bool
	}{
		{"a year ahead", year, 0, true, true},
		{"as early as a clock that is ahead begins it", 2 * decide.ClockTolerance, 0, true, false},
		{"as far ahead as a record may be", decide.FutureTolerance, 0, true, false},
		{"farther ahead than a record may be", decide.FutureTolerance + time.Millisecond, 0, true, true},
		{"the store's clock is not known", year, 0, false, false},
		{"the local clock is far off", year, -year, true, false},
		{"both are behind the record, and do not agree", time.Minute, -time.Minute, true, false},
		{"the local clock is a little ahead", year, 9 * time.Second, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := given(t).members("A").leader("A").deal("A", "A", "A")
			store := f.now
			f.fired(1, store.Add(tt.fired))
			f.now = store.Add(tt.local)
			if tt.known {
				f.ahead(tt.local)
			}
			changes := rewinds(f.pass("A"))
			if got := len(changes) > 0; got != tt.rewind {
				t.Fatalf("rewinds: %v", got)
			}
			want := []string{"+ sharding/1/fired = 2026-01-05T10:00:05.100Z"} // the store's now, whatever the local clock shows
			if diff := cmp.Diff(want, f.changes("A", changes...)); tt.rewind && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}

	base := func(f *fixture) {
		f.members("A").leader("A").deal("A", "A", "A").ahead(0).fired(1, f.now.Add(year))
	}
	for _, r := range []row{
		{name: "one that is not", tree: func(f *fixture) { f.fired(1, begin) }},
		{name: "one that runs", tree: func(f *fixture) { f.put("sharding/1/running", "A") }},
		{name: "one that has no record", tree: func(f *fixture) { f.remove("sharding/1/fired") }},
		{name: "one beyond the total", rules: func(r *decide.Rules) { r.Total = 1 }},
	} {
		r.run(t, base, rewinds)
	}
	for _, c := range []conflict{
		{"it begins to run", func(f *fixture) { f.put("sharding/1/running", "A") }},
		{"it is rewritten", func(f *fixture) { f.fired(1, begin) }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance") }},
		{"the configuration changes", func(f *fixture) { f.configure() }},
	} {
		c.run(t, base, rewinds)
	}
}

func TestFutureTimes(t *testing.T) {
	const year = 365 * 24 * time.Hour
	since := func(f *fixture, at time.Time) {
		document, err := jobtree.EncodeSchedule(jobtree.ScheduleDocument{
			Cron: f.rules.Cron, TimeZone: f.rules.TimeZone, Misfire: f.rules.Misfire, Unmonitored: !f.rules.Monitor, Since: at,
		})
		if err != nil {
			f.Fatal(err)
		}
		f.put("schedule", string(document))
	}
	ahead := func(f *fixture) { f.fired(1, f.now.Add(year)) }
	// The leader has taken item 0 back to tick 1, after this instance had begun tick 20.
	takenBack := func(f *fixture) { f.work.Begun[0] = tick(20); f.fired(0, tick(1)) }
	unknown := func(f *fixture) { f.clock = decide.Clock{} }
	for _, tt := range []struct {
		name  string
		rules func(*decide.Rules)
		tree  func(*fixture)
		want  decide.FutureTimes
	}{
		{name: "all is past"},
		{name: "an item that is a year ahead", tree: ahead, want: decide.FutureTimes{Items: []int{1}}},
		{name: "the store's clock is not known", tree: func(f *fixture) { ahead(f); unknown(f) }, want: decide.FutureTimes{Items: []int{1}}},
		{name: "the local clock is far off, so that nobody can tell", tree: func(f *fixture) { ahead(f); f.ahead(-time.Minute) }},
		{name: "as far ahead as a record may be", tree: func(f *fixture) { f.fired(1, f.now.Add(decide.FutureTolerance)) }},
		{
			name: "as far ahead as a record may be of the local clock",
			tree: func(f *fixture) { f.fired(1, f.now.Add(decide.FutureTolerance)); unknown(f) },
		},
		{
			name: "farther ahead of the local clock",
			tree: func(f *fixture) { f.fired(1, f.now.Add(decide.FutureTolerance+time.Millisecond)); unknown(f) },
			want: decide.FutureTimes{Items: []int{1}},
		},
		{name: "without a schedule nothing waits for a tick", rules: func(r *decide.Rules) { r.Cron = "" }, tree: ahead},
		{name: "without records", rules: func(r *decide.Rules) { r.Monitor, r.Failover = false, false }, tree: ahead},
		{name: "an item beyond the total", rules: func(r *decide.Rules) { r.Total = 1 }, tree: ahead},
		{name: "an item that has no record", tree: func(f *fixture) { f.remove("sharding/0/fired") }},
		{name: "the schedule", tree: func(f *fixture) { since(f, f.now.Add(year)) }, want: decide.FutureTimes{Schedule: true}},
		{
			name:  "the schedule, without records",
			rules: func(r *decide.Rules) { r.Monitor, r.Failover = false, false },
			tree:  func(f *fixture) { since(f, f.now.Add(year)); unknown(f) },
			want:  decide.FutureTimes{Schedule: true},
		},
		{
			name: "a schedule that is not in force",
			tree: func(f *fixture) {
				since(f, f.now.Add(year))
				f.reconfigure(func(r *decide.Rules) { r.Cron = "* * * * * ?" })
			},
		},
		{name: "a tick that was taken back", tree: func(f *fixture) { takenBack(f); unknown(f) }, want: decide.FutureTimes{TakenBack: []int{0}}},
		{
			name: "all of them",
			tree: func(f *fixture) { takenBack(f); ahead(f); since(f, f.now.Add(year)); unknown(f) },
			want: decide.FutureTimes{Items: []int{1}, Schedule: true, TakenBack: []int{0}},
		},
		{name: "and the store's clock is known, so that the fault is one of the clock", tree: takenBack},
		{name: "and it runs here again", tree: func(f *fixture) { takenBack(f); unknown(f); f.work.Runs[0] = &decide.Run{} }},
		{name: "and it runs elsewhere", tree: func(f *fixture) { takenBack(f); unknown(f); f.put("sharding/0/running", "B") }},
		{name: "and it is somebody else's", tree: func(f *fixture) { takenBack(f); unknown(f); f.own(0, "B") }},
		{name: "and nobody knows to when", tree: func(f *fixture) { takenBack(f); unknown(f); f.put("sharding/0/fired", "") }},
		{name: "the record is that of a run which has ended here", tree: func(f *fixture) {
			takenBack(f)
			unknown(f)
			f.work.Ended[0] = f.pass("A").Items[0].Fired.Modified
		}},
		{name: "a tick that was begun, and is not much later than the record", tree: func(f *fixture) {
			f.work.Begun[0] = tick(1).Add(2 * decide.ClockTolerance)
			f.fired(0, tick(1))
			unknown(f)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := given(t, someOf(tt.rules)...).members("A").deal("A", "A", "A").ahead(0)
			if tt.tree != nil {
				tt.tree(f)
			}
			if diff := cmp.Diff(tt.want, f.pass("A").FutureTimes(f.work), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
