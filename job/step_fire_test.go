package job

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func fires(w *world) []commit { return w.fire(w.due()) }

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
		{"another schedule is recorded", tick(3), func(f *fixture) { f.reconfigure(func(c *Config) { c.Cron = "0/10 * * * * ?" }) }, time.Time{}},
		{"another zone is recorded", tick(3), func(f *fixture) { f.reconfigure(func(c *Config) { c.TimeZone = "GMT+08:00" }) }, time.Time{}},
		{"misfire was switched, and that is not recorded", tick(3), func(f *fixture) { f.reconfigure(func(c *Config) { c.Misfire = Off }) }, time.Time{}},
		{"the record cannot be read", tick(3), func(f *fixture) { f.put("schedule", "\t") }, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t)
			if c.tree != nil {
				c.tree(f)
			}
			f.now = c.now
			if got := f.world("A").lastTick(); !got.Equal(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	t.Run("a one-off job", func(t *testing.T) {
		f := given(t, func(c *Config) { c.Cron = "" })
		if got := f.world("A").lastTick(); !got.IsZero() {
			t.Errorf("got %v", got)
		}
	})
}

func TestJudge(t *testing.T) {
	off := func(c *Config) { c.Misfire = Off }
	window := func(c *Config) { c.MisfireWindow = time.Minute }
	tolerant := func(c *Config) { c.MisfireTolerance = 5 * time.Second }
	at := func(tick time.Time) jobtree.Item { return jobtree.Item{Fired: &jobtree.Fired{Tick: tick}} }
	flagged := func(tick time.Time) jobtree.Item { return jobtree.Item{Fired: at(tick).Fired, Misfire: true} }
	for _, c := range []struct {
		name   string
		config func(*Config)
		item   jobtree.Item
		late   time.Duration
		want   verdict
	}{
		{"begun", nil, at(tick(5)), 0, notDue},
		{"begun for a later tick", nil, at(tick(6)), 0, notDue},
		{"begun, although flagged", nil, flagged(tick(5)), 0, notDue},
		{"not known to the leader", nil, jobtree.Item{}, 0, notDue},
		{"just due", nil, at(tick(4)), 0, onTime},
		{"just within the tolerance", nil, at(tick(4)), time.Second, onTime},
		{"just beyond it", nil, at(tick(4)), time.Second + 1, late},
		{"within a longer tolerance", tolerant, at(tick(4)), 5 * time.Second, onTime},
		{"on time, after ticks that were missed", nil, at(tick(0)), 0, onTime},
		{"just due, and the one before was missed while it ran", nil, flagged(tick(3)), 0, late},
		{"missed, misfire off", off, at(tick(4)), 2 * time.Second, passed},
		{"just due, misfire off", off, at(tick(4)), time.Second, onTime},
		{"just due, misfire off, a flag is left", off, flagged(tick(4)), 0, onTime},
		{"missed within the window", window, at(tick(4)), time.Minute, late},
		{"missed before the window", window, at(tick(4)), time.Minute + 1, passed},
		{"missed before the window while it ran", window, flagged(tick(4)), time.Hour, late},
		{"missed, for all that is known", nil, at(time.Time{}), time.Minute, passed},
		{"just due, and nothing is known", nil, at(time.Time{}), 0, onTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			var configs []func(*Config)
			if c.config != nil {
				configs = append(configs, c.config)
			}
			f := given(t, configs...)
			f.now = tick(5).Add(c.late)
			if got := f.world("A").judge(c.item, tick(5)); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	t.Run("no tick yet", func(t *testing.T) {
		if got := given(t).world("A").judge(at(tick(0)), time.Time{}); got != notDue {
			t.Errorf("got %v", got)
		}
	})
}

func TestFire(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "A", "B") }
	const tick1, tick2 = "2026-01-05T10:00:05.000Z", "2026-01-05T10:00:10.000Z"
	begins := func(items ...int) (lines []string) {
		for _, i := range items {
			lines = append(lines, fmt.Sprintf("+ sharding/%d/fired = %s", i, tick1), fmt.Sprintf("+ sharding/%d/running = A", i))
		}
		return lines
	}
	for _, c := range []stepCase{
		{
			name: "its items, and no others",
			want: begins(0, 1),
		},
		{
			name: "before the tick",
			tree: func(f *fixture) { f.now = tick(1).Add(-1) },
		},
		{
			name: "what has begun is not begun again",
			tree: func(f *fixture) { f.put("sharding/0/fired", tick1) },
			want: begins(1),
		},
		{
			name: "what began for a manual run and has fired for nothing",
			tree: func(f *fixture) { f.put("sharding/0/fired", "2026-01-05T10:00:00.000Z 2026-01-05T10:00:05.050Z") },
			want: begins(0, 1),
		},
		{
			name:   "without failover the record ends with the session",
			config: func(c *Config) { c.Failover = false },
			want: []string{
				"+ sharding/0/fired = " + tick1, "+ sharding/0/running = A (of A)",
				"+ sharding/1/fired = " + tick1, "+ sharding/1/running = A (of A)",
			},
		},
		{
			name: "a running item is flagged, and the other does not wait",
			tree: func(f *fixture) { f.runs[0] = f.claim("A", 0, tick(0)) },
			want: append([]string{"+ sharding/0/misfire = "}, begins(1)...),
		},
		{
			name: "an item that runs elsewhere is flagged too",
			tree: func(f *fixture) { f.claim("B", 0, tick(0)) },
			want: append([]string{"+ sharding/0/misfire = "}, begins(1)...),
		},
		{
			name: "once is enough",
			tree: func(f *fixture) { f.runs[0] = f.claim("A", 0, tick(0)); f.put("sharding/0/misfire", "") },
			want: begins(1),
		},
		{
			name: "also when the snapshot does not show it yet",
			tree: func(f *fixture) { f.runs[0] = f.claim("A", 0, tick(0)); f.runs[0].flagged = true },
			want: begins(1),
		},
		{
			name:   "with misfire off nothing is flagged",
			config: func(c *Config) { c.Misfire = Off },
			tree:   func(f *fixture) { f.runs[0] = f.claim("A", 0, tick(0)) },
			want:   begins(1),
		},
		{
			name: "a run that the snapshot does not show yet",
			tree: func(f *fixture) { f.runs[0] = &run{item: 0, last: tick(1)} },
			want: begins(1),
		},
		{
			name: "a missed tick is made up, and its flag goes",
			tree: func(f *fixture) { f.now = tick(2); f.put("sharding/0/misfire", "") },
			want: []string{
				"+ sharding/0/fired = " + tick2, "- sharding/0/misfire", "+ sharding/0/running = A",
				"+ sharding/1/fired = " + tick2, "+ sharding/1/running = A",
			},
		},
		{
			name:   "a missed tick with misfire off",
			config: func(c *Config) { c.Misfire = Off },
			tree:   func(f *fixture) { f.now = tick(1).Add(2 * time.Second) },
			want:   []string{"+ sharding/0/fired = " + tick1, "+ sharding/1/fired = " + tick1},
		},
		{
			name:   "a tick that waited for a thread is not missed",
			config: func(c *Config) { c.Misfire = Off },
			tree: func(f *fixture) {
				f.now = tick(1).Add(2 * time.Second)
				f.waiting = map[int]time.Time{0: tick(1)}
			},
			want: append(begins(0), "+ sharding/1/fired = "+tick1),
		},
		{
			name: "what began here, and was taken back",
			tree: func(f *fixture) { f.begun = map[int]time.Time{0: tick(1), 1: tick(0)} },
			want: begins(1),
		},
		{
			name: "what began here, and was taken back, of a disabled item",
			tree: func(f *fixture) {
				f.begun = map[int]time.Time{0: tick(1)}
				f.put("sharding/0/disabled", "")
			},
			want: begins(1),
		},
		{
			name: "as many as there are threads for, and those that wait longest first",
			tree: func(f *fixture) { f.free = 1; f.put("sharding/1/fired", "2026-01-05T09:59:55.000Z") },
			want: begins(1),
		},
		{
			name: "a disabled item passes over the tick",
			tree: func(f *fixture) { f.put("sharding/0/disabled", "") },
			want: append([]string{"+ sharding/0/fired = " + tick1}, begins(1)...),
		},
		{
			name: "a disabled server leaves the tick to who gets the item",
			tree: func(f *fixture) { f.put("servers/host-A", "DISABLED") },
		},
		{
			name: "a disabled item on a disabled server",
			tree: func(f *fixture) { f.put("servers/host-A", "DISABLED"); f.put("sharding/0/disabled", "") },
			want: []string{"+ sharding/0/fired = " + tick1},
		},
		{
			name: "with every server disabled the ticks pass",
			tree: func(f *fixture) {
				f.put("servers/host-A", "DISABLED").put("servers/host-B", "DISABLED").remove("leader/election/instance")
			},
			want: []string{"+ sharding/0/fired = " + tick1, "+ sharding/1/fired = " + tick1},
		},
		{
			name:   "without records nothing is claimed",
			config: func(c *Config) { c.MonitorExecution, c.Failover = Off, false },
		},
		{
			name:   "items beyond the total",
			config: func(c *Config) { c.ShardingTotalCount = 1 },
			want:   begins(0),
		},
		{
			name: "an item whose record of ticks is missing waits for the leader",
			tree: func(f *fixture) { f.remove("sharding/0/fired") },
			want: begins(1),
		},
		{
			name: "an item whose record of ticks is from somebody who writes nonsense",
			tree: func(f *fixture) { f.put("sharding/0/fired", "yesterday") },
			want: begins(0, 1),
		},
	} {
		c.run(t, base, fires)
	}
}

func TestFireSaysWhatBegins(t *testing.T) {
	f := given(t)
	f.members("A").deal("A", "A", "A")
	f.put("sharding/1/misfire", "")
	f.runs[2] = f.claim("A", 2, tick(0))
	f.now = tick(4)
	commits := fires(f.world("A"))
	var claims, misses []*run
	for _, c := range commits {
		claims = append(claims, c.claims...)
		misses = append(misses, c.misses...)
	}
	if len(claims) != 2 || len(misses) != 1 || misses[0] != f.runs[2] {
		t.Fatalf("claims %v, misses %v", claims, misses)
	}
	for i, source := range []Source{SourceNormal, SourceMisfire} {
		r := claims[i]
		if r.item != i || r.source != source || r.instance != "A" || r.failover || !r.tick.Equal(tick(4)) || !r.last.Equal(tick(4)) {
			t.Errorf("item %d: %+v, want %v", i, *r, source)
		}
	}
}

func TestFireIsConditional(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "B") }
	for _, c := range []conflictCase{
		{"the item is given to somebody else", func(f *fixture) { f.own(0, "B") }},
		{"it is given away and back", func(f *fixture) { f.own(0, "B"); f.own(0, "A") }},
		{"it begins to run", func(f *fixture) { f.claim("B", 0, tick(0)) }},
		{"a JVM member begins it, which keeps no record of ticks", func(f *fixture) { f.put("sharding/0/running", "B") }},
		{"it is taken over", func(f *fixture) { f.takenOver("B", 0, tick(0)) }},
		{"it ran and is idle again", func(f *fixture) { f.claim("B", 0, tick(1)); f.remove("sharding/0/running") }},
		{"the tick is passed over", func(f *fixture) { f.put("sharding/0/fired", "2026-01-05T10:00:05.000Z") }},
		{"there are fewer items", func(f *fixture) { f.configure(func(c *Config) { c.ShardingTotalCount = 1 }) }},
		{"the item goes and comes again, all as it was", func(f *fixture) {
			f.reconfigure(func(c *Config) { c.ShardingTotalCount = 2 })
			f.remove("sharding/0")
			f.reconfigure(func(c *Config) { c.ShardingTotalCount = 3 })
			f.deal("A")
		}},
		{"the session ends", func(f *fixture) { f.crash("A") }},
		{"the instance has left", func(f *fixture) { f.remove("sessions/A", "instances/A") }},
	} {
		c.run(t, base, fires)
	}
	t.Run("flag", func(t *testing.T) {
		base := func(f *fixture) { f.members("A", "B").deal("A", "B", "B"); f.runs[0] = f.claim("A", 0, tick(0)) }
		for _, c := range []conflictCase{
			{"the run ends", func(f *fixture) { f.remove("sharding/0/running") }},
			{"the next one has begun", func(f *fixture) { f.remove("sharding/0/running"); f.claim("A", 0, tick(1)) }},
		} {
			c.run(t, base, fires)
		}
	})
	t.Run("pass over an item", func(t *testing.T) {
		base := func(f *fixture) { f.members("A", "B").deal("A", "B", "B").put("sharding/0/disabled", "") }
		for _, c := range []conflictCase{
			{"it is enabled", func(f *fixture) { f.remove("sharding/0/disabled") }},
			{"it is given to somebody else", func(f *fixture) { f.own(0, "B") }},
			{"it begins to run", func(f *fixture) { f.claim("B", 0, tick(1)) }},
		} {
			c.run(t, base, fires)
		}
	})
	t.Run("pass over because nobody may", func(t *testing.T) {
		base := func(f *fixture) { f.members("A").deal("A", "B", "B").put("servers/host-A", "DISABLED") }
		conflictCase{"somebody may", func(f *fixture) { f.members("C").leader("C") }}.run(t, base, fires)
	})
}

// TestOnlyOneBegins: whoever thinks that an item is his, and for however many ticks,
// of those who look at the same state one begins it.
func TestOnlyOneBegins(t *testing.T) {
	f := given(t)
	f.members("A", "B").deal("A", "A", "A")
	a := fires(f.world("A"))
	f.own(0, "B")
	f.own(1, "B")
	f.own(2, "B")
	b := fires(f.world("B"))
	if _, err := f.store.commit(sessionOf("B"), b[0].ops...); err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.commit(sessionOf("A"), a[0].ops...); err == nil {
		t.Error("both began")
	}
}

// TestFireManyItems: what is due begins whatever the number, in commits that a store
// takes, with every item in exactly one of them.
func TestFireManyItems(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		total := rapid.SampledFrom([]int{1, 29, 30, 31, 60, 61, 200}).Draw(r, "total")
		f := given(t, func(c *Config) {
			c.ShardingTotalCount = total
			c.Failover = rapid.Bool().Draw(r, "failover")
			c.Misfire = ToggleOf(rapid.Bool().Draw(r, "misfire"))
		})
		f.members("A", "B")
		due, flagged, passes := map[int]bool{}, map[int]bool{}, map[int]bool{}
		for i := range total {
			owner := rapid.SampledFrom([]string{"A", "A", "A", "B"}).Draw(r, "owner")
			f.own(i, owner)
			f.put(fmt.Sprintf("sharding/%d/fired", i), string(jobtree.EncodeFired(stepStart)))
			mine := owner == "A"
			switch rapid.IntRange(0, 7).Draw(r, "state") {
			case 0:
				f.claim(rapid.SampledFrom([]string{"A", "B"}).Draw(r, "runner"), i, tick(0))
				flagged[i] = mine && f.settings.misfire
			case 1:
				f.put(fmt.Sprintf("sharding/%d/disabled", i), "")
				passes[i] = mine
			case 2:
				f.put(fmt.Sprintf("sharding/%d/misfire", i), "")
				due[i] = mine
			case 3:
				f.put(fmt.Sprintf("sharding/%d/fired", i), string(jobtree.EncodeFired(tick(1))))
			default:
				due[i] = mine
			}
		}
		commits := fires(f.world("A"))
		begun := map[int]bool{}
		for _, c := range commits {
			if len(c.claims) > claimsPerCommit {
				r.Fatalf("%d claims in a commit", len(c.claims))
			}
			revision, err := f.store.commit(sessionOf("A"), c.ops...)
			if err != nil {
				r.Fatal(err)
			}
			for _, run := range c.claims {
				if begun[run.item] {
					r.Fatalf("item %d begins twice", run.item)
				}
				begun[run.item] = true
				if fired := f.world("A").Item(run.item).Fired; fired.Modified != revision {
					r.Fatalf("item %d: its fired record is of %d, and the claim of %d", run.item, fired.Modified, revision)
				}
			}
		}
		w := f.world("A")
		for i := range total {
			item := w.Item(i)
			switch {
			case begun[i] != due[i]:
				r.Fatalf("item %d begins: %v, want %v", i, begun[i], due[i])
			case due[i] && (!item.Running.Is("A") || !item.Fired.Tick.Equal(tick(1)) || item.Misfire && f.settings.misfire):
				r.Fatalf("item %d was begun: %+v", i, item)
			case flagged[i] != item.Misfire && item.Running != nil && !begun[i]:
				r.Fatalf("item %d is flagged: %v", i, item.Misfire)
			case passes[i] && (item.Running != nil || !item.Fired.Tick.Equal(tick(1))):
				r.Fatalf("item %d passes over the tick: %+v", i, item)
			}
		}
		f.runs = map[int]*run{}
		if more := fires(f.world("A")); len(more) > 0 {
			r.Fatalf("there is no end to it: %v", more[0].ops)
		}
	})
}

// TestClaimIsOneCommit: thirty items of an instance cost one commit to begin.
func TestClaimIsOneCommit(t *testing.T) {
	f := given(t, func(c *Config) { c.ShardingTotalCount = 30 })
	f.members("A")
	for i := range 30 {
		f.own(i, "A")
		f.put(fmt.Sprintf("sharding/%d/fired", i), string(jobtree.EncodeFired(stepStart)))
	}
	commits := fires(f.world("A"))
	if len(commits) != 1 {
		t.Fatalf("%d commits", len(commits))
	}
	revision, err := f.store.commit(sessionOf("A"), commits[0].ops...)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range commits[0].claims {
		r.token = revision
		f.runs[r.item] = returned(&run{item: r.item, token: revision, instance: "A", last: r.last, group: &group{open: 1}}, nil)
	}
	var ended []*run
	for _, r := range f.runs {
		ended = append(ended, r)
	}
	if commits = f.world("A").finish(ended); len(commits) != 1 {
		t.Fatalf("%d commits to finish", len(commits))
	}
	if cost := coord.Cost(commits[0].ops...); cost > coord.MaxOps {
		t.Fatalf("it costs %d", cost)
	}
}
