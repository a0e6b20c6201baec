package decide_test

import (
	"maps"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/elasticjob-go/elasticjob/internal/decide"
)

func TestFireUnmonitored(t *testing.T) {
	type state = decide.Unmonitored
	missed := func(items ...int) map[int]bool {
		m := map[int]bool{}
		for _, i := range items {
			m[i] = true
		}
		return m
	}
	claims := func(source decide.Source, at time.Time, items ...int) (list []decide.Claim) {
		for _, i := range items {
			list = append(list, decide.Claim{Item: i, Source: source, Tick: at})
		}
		return list
	}
	runs := func(items ...int) func(*fixture) {
		return func(f *fixture) {
			for _, i := range items {
				f.work.Runs[i] = &decide.Run{Claim: decide.Claim{Item: i, Tick: begin}, Instance: "A"}
			}
		}
	}
	late := func(f *fixture) { f.now = tick(1).Add(2 * time.Second) }
	window := func(r *decide.Rules) { r.Window = 90 * time.Second }
	for _, tt := range []struct {
		name  string
		rules func(*decide.Rules)
		tree  func(*fixture)
		state state
		want  []decide.Claim
		next  state
	}{
		// A owns the items 0 and 2. Tick 1 has just come.
		{name: "on time", state: state{Last: begin}, want: claims(decide.Normal, tick(1), 0, 2), next: state{Last: tick(1)}},
		{name: "once for each tick", state: state{Last: tick(1)}, next: state{Last: tick(1)}},
		{name: "before the tick", tree: func(f *fixture) { f.now = tick(1).Add(-1) }, state: state{Last: begin}, next: state{Last: begin}},
		{
			name: "on time, after ticks that were missed", tree: func(f *fixture) { f.now = tick(9) },
			state: state{Last: begin}, want: claims(decide.Normal, tick(9), 0, 2), next: state{Last: tick(9)},
		},
		{
			name: "just within the tolerance", tree: func(f *fixture) { f.now = tick(1).Add(time.Second) },
			state: state{Last: begin}, want: claims(decide.Normal, tick(1), 0, 2), next: state{Last: tick(1)},
		},
		{
			name: "within the slack", tree: func(f *fixture) { late(f); f.slack = time.Second },
			state: state{Last: begin}, want: claims(decide.Normal, tick(1), 0, 2), next: state{Last: tick(1)},
		},
		{name: "late", tree: late, state: state{Last: begin}, want: claims(decide.Misfire, tick(1), 0, 2), next: state{Last: tick(1)}},
		{name: "late, and misfire is off", rules: misfireOff, tree: late, state: state{Last: begin}, next: state{Last: tick(1)}},
		{
			name: "late within the window", rules: window, state: state{Last: begin},
			tree: func(f *fixture) { f.configure(everyHalfHour); f.now = begin.Add(30*time.Minute + 90*time.Second) },
			want: claims(decide.Misfire, begin.Add(30*time.Minute), 0, 2), next: state{Last: begin.Add(30 * time.Minute)},
		},
		{
			name: "later than the window", rules: window, state: state{Last: begin},
			tree: func(f *fixture) { f.configure(everyHalfHour); f.now = begin.Add(30*time.Minute + 91*time.Second) },
			next: state{Last: begin.Add(30 * time.Minute)},
		},
		{name: "on time, and nothing is remembered", want: claims(decide.Normal, tick(1), 0, 2), next: state{Last: tick(1)}},
		{name: "late, for all that is known", tree: late, next: state{Last: tick(1)}},
		{name: "no schedule is in force", tree: func(f *fixture) { f.remove("schedule") }, state: state{Last: begin}, next: state{Last: begin}},
		{name: "without a schedule", rules: func(r *decide.Rules) { r.Cron = "" }, state: state{Last: begin}, next: state{Last: begin}},

		// Items that run while a tick comes.
		{
			name: "one runs here", tree: runs(0),
			state: state{Last: begin}, want: claims(decide.Normal, tick(1), 2), next: state{Last: tick(1), Missed: missed(0)},
		},
		{
			name: "one runs here, and the tick is late", tree: func(f *fixture) { runs(0)(f); late(f) },
			state: state{Last: begin}, want: claims(decide.Misfire, tick(1), 2), next: state{Last: tick(1), Missed: missed(0)},
		},
		{
			name: "one runs here, and misfire is off", rules: misfireOff, tree: runs(0),
			state: state{Last: begin}, want: claims(decide.Normal, tick(1), 2), next: state{Last: tick(1)},
		},
		{name: "one runs here, and the tick is skipped", rules: misfireOff, tree: func(f *fixture) { runs(0)(f); late(f) }, state: state{Last: begin}, next: state{Last: tick(1)}},
		{name: "one runs here, for that tick", tree: runs(0), state: state{Last: tick(1)}, next: state{Last: tick(1)}},
		{name: "missed, and it still runs", tree: runs(0), state: state{Last: tick(1), Missed: missed(0)}, next: state{Last: tick(1), Missed: missed(0)}},
		{
			name: "missed, it still runs, and a tick comes", tree: runs(0),
			state: state{Last: begin, Missed: missed(0)}, want: claims(decide.Normal, tick(1), 2), next: state{Last: tick(1), Missed: missed(0)},
		},
		{
			name:  "missed, and then idle",
			state: state{Last: tick(1), Missed: missed(0)}, want: claims(decide.Misfire, tick(1), 0), next: state{Last: tick(1)},
		},
		{
			name: "missed, and then idle after the window", rules: window, tree: func(f *fixture) { f.now = tick(1).Add(4 * time.Second) },
			state: state{Last: tick(1), Missed: missed(0)}, want: claims(decide.Misfire, tick(1), 0), next: state{Last: tick(1)},
		},
		{
			name:  "missed, and idle when a tick comes, which stands for both",
			state: state{Last: begin, Missed: missed(0)}, want: claims(decide.Normal, tick(1), 0, 2), next: state{Last: tick(1)},
		},
		{
			name: "missed, and idle when a tick is skipped", rules: misfireOff, tree: late,
			state: state{Last: begin, Missed: missed(0)}, want: claims(decide.Misfire, tick(1), 0), next: state{Last: tick(1)},
		},

		// Items that this instance may not begin. What they missed is not its own any more.
		{
			name: "a disabled item", tree: func(f *fixture) { f.put("sharding/0/disabled", "") },
			state: state{Last: begin, Missed: missed(0)}, want: claims(decide.Normal, tick(1), 2), next: state{Last: tick(1)},
		},
		{
			name: "a disabled item that runs", tree: func(f *fixture) { runs(0)(f); f.put("sharding/0/disabled", "") },
			state: state{Last: tick(1), Missed: missed(0)}, next: state{Last: tick(1)},
		},
		{
			name: "an item that is somebody else's", tree: func(f *fixture) { f.own(0, "B") },
			state: state{Last: begin, Missed: missed(0)}, want: claims(decide.Normal, tick(1), 2), next: state{Last: tick(1)},
		},
		{
			name: "a disabled server", tree: func(f *fixture) { f.disable("A") },
			state: state{Last: begin, Missed: missed(0)}, next: state{Last: tick(1)},
		},
		{
			name: "on the way out", tree: func(f *fixture) { f.leaving = true },
			state: state{Last: begin, Missed: missed(0)}, next: state{Last: tick(1)},
		},
		{
			name: "an item beyond the total", rules: func(r *decide.Rules) { r.Total = 2 },
			state: state{Last: begin, Missed: missed(2)}, want: claims(decide.Normal, tick(1), 0), next: state{Last: tick(1)},
		},

		// The clock was ahead when the last tick was begun.
		{
			name:  "the clock was far ahead",
			state: state{Last: tick(1).Add(100*time.Millisecond + decide.FutureTolerance + 1), Missed: missed(0)},
			next:  state{Last: tick(1).Add(100 * time.Millisecond)},
		},
		{
			name: "the clock was far ahead, and one runs", tree: runs(0),
			state: state{Last: tick(999), Missed: missed(0)}, next: state{Last: tick(1).Add(100 * time.Millisecond)},
		},
		{
			name:  "the clock was a little ahead: what was begun is not begun again",
			state: state{Last: tick(1).Add(100*time.Millisecond + decide.FutureTolerance)},
			next:  state{Last: tick(1).Add(100*time.Millisecond + decide.FutureTolerance)},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := given(t, unrecorded)
			if tt.rules != nil {
				f.configure(tt.rules)
			}
			f.members("A", "B").deal("A", "B", "A")
			if tt.tree != nil {
				tt.tree(f)
			}
			before := maps.Clone(tt.state.Missed)
			got, next := f.pass("A").FireUnmonitored(f.work, tt.state)
			equalClaims(t, "begins", got, tt.want)
			if diff := gocmp.Diff(tt.next, next, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("what is remembered (-want +got):\n%s", diff)
			}
			if !maps.Equal(before, tt.state.Missed) {
				t.Errorf("what was remembered has changed to %v", tt.state.Missed)
			}
		})
	}
	t.Run("after the clock was set back the next tick begins", func(t *testing.T) {
		f := given(t, unrecorded).members("A").deal("A", "A", "A")
		p := f.pass("A")
		_, next := p.FireUnmonitored(p.work, state{Last: tick(999)})
		f.now = tick(2)
		p = f.pass("A")
		got, _ := p.FireUnmonitored(p.work, next)
		equalClaims(t, "begins", got, claims(decide.Normal, tick(2), 0, 1, 2))
	})
}

func everyHalfHour(r *decide.Rules) { r.Cron = "0 0/30 * * * ?" }
