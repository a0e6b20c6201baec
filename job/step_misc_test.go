package job

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

func registers(w *world) []commit {
	commit, err := w.register()
	if err != nil {
		panic(err)
	}
	return one(commit)
}

func TestRegister(t *testing.T) {
	here := []string{"+ instances/A = jobInstanceId: A\nserverIp: host-A\n (of A)"}
	session := "+ sessions/A =  (of A)"
	for _, c := range []stepCase{
		{
			name: "a new server",
			want: append(here, "+ servers/host-A = ENABLED", session),
		},
		{
			name:   "a new server of a job whose servers begin disabled",
			config: func(c *Config) { c.Disabled = true },
			want:   append(here, "+ servers/host-A = DISABLED", session),
		},
		{
			name: "a server that an operator has disabled stays that",
			tree: func(f *fixture) { f.put("servers/host-A", "DISABLED") },
			want: append(here, session),
		},
		{
			name:   "a server that an operator has enabled stays that",
			config: func(c *Config) { c.Disabled = true },
			tree:   func(f *fixture) { f.put("servers/host-A", "ENABLED") },
			want:   append(here, session),
		},
		{
			name: "another instance of the server",
			tree: func(f *fixture) { f.must(1, coord.CreateEphemeral("settle/instances/B", []byte("serverIp: host-A\n"))) },
			want: append(here, "+ servers/host-A = ENABLED", session),
		},
		{
			name: "labels",
			tree: func(f *fixture) { f.labels = []string{"big", "weight=3"} },
			want: []string{"+ instances/A = jobInstanceId: A\nlabels: big,weight=3\nserverIp: host-A\n (of A)", "+ servers/host-A = ENABLED", session},
		},
	} {
		c.run(t, func(*fixture) {}, registers)
	}
	for _, c := range []conflictCase{
		{"the job is removed", func(f *fixture) { f.remove("config") }},
		{"it is there already", func(f *fixture) { f.members("A") }},
		{"it was there, and an operator has removed it", func(f *fixture) { f.members("A").remove("instances/A") }},
		{"an operator disables the server", func(f *fixture) { f.put("servers/host-A", "DISABLED") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, func(*fixture) {}, registers)
	}
}

func TestElect(t *testing.T) {
	elects := func(w *world) []commit { return one(w.elect()) }
	base := func(f *fixture) { f.members("A", "B") }
	elected := []string{"+ leader/election/instance = A (of A)"}
	for _, c := range []stepCase{
		{name: "nobody leads", want: elected},
		{name: "somebody leads", tree: func(f *fixture) { f.leader("B") }},
		{name: "it leads", tree: func(f *fixture) { f.leader("A") }},
		{name: "not registered", tree: func(f *fixture) { f.remove("instances/A") }},
		{name: "registered by an earlier session", tree: func(f *fixture) {
			f.remove("instances/A").must(1, coord.CreateEphemeral("settle/instances/A", nil))
		}},
		{name: "its server is disabled", tree: func(f *fixture) { f.put("servers/host-A", "DISABLED") }},
		{name: "another server is disabled", tree: func(f *fixture) { f.put("servers/host-B", "DISABLED") }, want: elected},
		{name: "on the way out", tree: func(f *fixture) { f.leaving = true }},
	} {
		c.run(t, base, elects)
	}
	for _, c := range []conflictCase{
		{"somebody else is elected", func(f *fixture) { f.leader("B") }},
		{"an operator removes it", func(f *fixture) { f.remove("instances/A") }},
		{"it has stepped down", func(f *fixture) { f.changes("A", *f.world("A").stepDown()) }},
		{"the job is removed", func(f *fixture) { f.remove("config") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, base, elects)
	}
}

func TestAbdicate(t *testing.T) {
	abdicates := func(w *world) []commit { return one(w.abdicate()) }
	base := func(f *fixture) { f.members("A", "B").leader("A") }
	for _, c := range []stepCase{
		{name: "no reason to"},
		{name: "its server is disabled", tree: func(f *fixture) { f.put("servers/host-A", "DISABLED") }, want: []string{"- leader/election/instance"}},
		{
			name: "and a stranger has put a node below the leader's",
			tree: func(f *fixture) { f.put("servers/host-A", "DISABLED").put("leader/election/instance/x", "") },
			want: []string{"- leader/election/instance", "- leader/election/instance/x"},
		},
		{name: "somebody else leads", tree: func(f *fixture) {
			f.put("servers/host-A", "DISABLED").remove("leader/election/instance").leader("B")
		}},
	} {
		c.run(t, base, abdicates)
	}
	disabled := func(f *fixture) { base(f); f.put("servers/host-A", "DISABLED") }
	conflictCase{"somebody else leads by now", func(f *fixture) { f.remove("leader/election/instance").leader("B") }}.run(t, disabled, abdicates)
}

func TestSchedule(t *testing.T) {
	records := func(w *world) []commit {
		commit, err := w.schedule()
		if err != nil {
			panic(err)
		}
		return one(commit)
	}
	since := "since: 2026-01-05T10:00:05.1Z"
	base := func(f *fixture) { f.members("A").leader("A") }
	for _, c := range []struct {
		name string
		tree func(*fixture)
		says []string // nil if nothing is to be written
	}{
		{"it is recorded", func(*fixture) {}, nil},
		{"a new job", func(f *fixture) { f.remove("schedule") }, []string{"cron: 0/5 * * * * ?", "timeZone: UTC", "misfire: true", since}},
		{"another cron", func(f *fixture) { f.reconfigure(func(c *Config) { c.Cron = "0 0 * * * ?" }) }, []string{"cron: 0 0 * * * ?", since}},
		{"another zone", func(f *fixture) { f.reconfigure(func(c *Config) { c.TimeZone = "Asia/Tokyo" }) }, []string{"timeZone: Asia/Tokyo", since}},
		{"misfire off", func(f *fixture) { f.reconfigure(func(c *Config) { c.Misfire = Off }) }, []string{"misfire: false", since}},
		{"something else", func(f *fixture) { f.reconfigure(func(c *Config) { c.ShardingTotalCount = 9 }) }, nil},
		{"a record that cannot be read", func(f *fixture) { f.put("schedule", "\t") }, []string{"cron: 0/5 * * * * ?", since}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t)
			base(f)
			c.tree(f)
			got := f.changes("A", records(f.world("A"))...)
			if len(got) != min(len(c.says), 1) {
				t.Fatalf("got %q", got)
			}
			for _, says := range c.says {
				if !strings.Contains(got[0], says) {
					t.Errorf("got %s, want %s in it", got[0], says)
				}
			}
			if more := records(f.world("A")); len(more) > 0 {
				t.Errorf("there is no end to it: %v", more[0].ops)
			}
			if w := f.world("A"); !w.inForce() {
				t.Error("it is not in force")
			}
		})
	}
	changed := func(f *fixture) { base(f); f.reconfigure(func(c *Config) { c.Cron = "0 0 * * * ?" }) }
	for _, c := range []conflictCase{
		{"it is changed again", func(f *fixture) { f.reconfigure(func(c *Config) { c.Cron = "0 0 1 * * ?" }) }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance") }},
		{"it is recorded, and the view is late", func(f *fixture) { f.put("schedule", "cron: 0 0 * * * ?\n") }},
	} {
		c.run(t, changed, records)
	}
	first := conflictCase{"it is recorded for the first time, and the view is late", func(f *fixture) { f.put("schedule", "cron: 0 0 * * * ?\n") }}
	first.run(t, func(f *fixture) { base(f); f.remove("schedule") }, records)
}

func TestClean(t *testing.T) {
	base := func(f *fixture) { f.members("A", "B").leader("A").deal("A", "B", "A") }
	left := func(f *fixture) {
		f.put("leader/failover/items/0", "").put("leader/failover/items/2", "")
		f.put("sharding/0/misfire", "").put("sharding/1/misfire", "")
	}
	for _, c := range []stepCase{
		{
			name: "what is in use stays",
			tree: func(f *fixture) { left(f); f.takenOver("B", 1, tick(1)); f.put("trigger/B", "") },
		},
		{
			name:   "failover is off",
			config: func(c *Config) { c.Failover = false },
			tree: func(f *fixture) {
				left(f)
				f.put("sharding/1/failovering", "B").create("B", "sharding/1/failover", "B")
			},
			want: []string{"- leader/failover/items/0", "- leader/failover/items/2", "- sharding/1/failover", "- sharding/1/failovering"},
		},
		{
			name:   "failover is off, and one still runs by it",
			config: func(c *Config) { c.Failover = false },
			tree:   func(f *fixture) { f.takenOver("B", 1, tick(1)) },
		},
		{
			name:   "misfire is off",
			config: func(c *Config) { c.Misfire = Off },
			tree:   left,
			want:   []string{"- sharding/0/misfire", "- sharding/1/misfire"},
		},
		{
			name: "misfires of a schedule that was changed, but not of what still runs",
			tree: func(f *fixture) {
				left(f)
				f.put("sharding/1/running", "B")
				f.now = tick(0).Add(time.Second)
			},
			want: []string{"- sharding/0/misfire"},
		},
		{
			name:   "records are off: whoever still has one removes it",
			config: func(c *Config) { c.MonitorExecution, c.Failover = Off, false },
			tree:   func(f *fixture) { f.put("sharding/1/running", "B") },
		},
		{
			name: "a trigger of nobody",
			tree: func(f *fixture) { f.put("trigger/X", "").put("trigger/B", "") },
			want: []string{"- trigger/X"},
		},
		{
			name: "a trigger of one that is leaving, and obeys no more",
			tree: func(f *fixture) { f.put("trigger/B", "").remove("instances/B") },
			want: []string{"- trigger/B"},
		},
	} {
		c.run(t, base, (*world).clean)
	}
	forgotten := func(f *fixture) { base(f); f.put("trigger/X", "") }
	for _, c := range []conflictCase{
		{"the trigger is written again", func(f *fixture) { f.put("trigger/X", "") }},
		{"its instance shows later", func(f *fixture) { f.members("X") }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance") }},
	} {
		c.run(t, forgotten, (*world).clean)
	}
	t.Run("options that are switched on again", func(t *testing.T) {
		f := given(t, func(c *Config) { c.Failover = false })
		base(f)
		f.put("leader/failover/items/0", "")
		commits := f.world("A").clean()
		f.configure(func(c *Config) { c.Failover = true })
		if _, err := f.store.commit(sessionOf("A"), commits[0].ops...); err == nil {
			t.Error("what waits under the new configuration is removed because of the old one")
		}
	})
}

func TestSweep(t *testing.T) {
	base := func(f *fixture) {
		f.members("A", "B").leader("A").put("servers/host-X", "ENABLED").put("servers/host-Y", "DISABLED").put("servers/host-Z", "")
	}
	for _, c := range []stepCase{
		{name: "servers that nobody uses and of which nothing is said", want: []string{"- servers/host-X", "- servers/host-Z"}},
		{name: "servers begin disabled: an enabled one is an operator's", config: func(c *Config) { c.Disabled = true }, want: []string{"- servers/host-Y"}},
	} {
		c.run(t, base, (*world).sweep)
	}
	unused := func(f *fixture) { f.members("A").leader("A").put("servers/host-X", "ENABLED") }
	for _, c := range []conflictCase{
		{"an operator disables it", func(f *fixture) { f.put("servers/host-X", "DISABLED") }},
		{"servers are to begin disabled", func(f *fixture) { f.configure(func(c *Config) { c.Disabled = true }) }},
		{"somebody else leads", func(f *fixture) { f.remove("leader/election/instance") }},
	} {
		c.run(t, unused, (*world).sweep)
	}
}

func TestStepDown(t *testing.T) {
	stepsDown := func(w *world) []commit { return one(w.stepDown()) }
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	for _, c := range []stepCase{
		{name: "a follower", want: []string{"- instances/A"}},
		{name: "the leader", tree: func(f *fixture) { f.leader("A") }, want: []string{"- instances/A", "- leader/election/instance"}},
		{name: "what runs keeps its records", tree: func(f *fixture) { f.runs[0] = f.claim("A", 0, tick(1)) }, want: []string{"- instances/A"}},
		{name: "it has", tree: func(f *fixture) { f.remove("instances/A") }},
		{name: "it has, and was elected", tree: func(f *fixture) { f.remove("instances/A").leader("A") }, want: []string{"- leader/election/instance"}},
		{name: "somebody else leads", tree: func(f *fixture) { f.leader("B") }, want: []string{"- instances/A"}},
		{
			name: "a stranger has put nodes below its own",
			tree: func(f *fixture) { f.leader("A").put("instances/A/x", "").put("leader/election/instance/x", "") },
			want: []string{"- instances/A", "- instances/A/x", "- leader/election/instance", "- leader/election/instance/x"},
		},
	} {
		c.run(t, base, stepsDown)
	}
	leads := func(f *fixture) { base(f); f.leader("A") }
	conflictCase{"somebody else leads by now", func(f *fixture) { f.remove("leader/election/instance").leader("B") }}.run(t, leads, stepsDown)
}

func TestSignOff(t *testing.T) {
	signsOff := func(w *world) []commit { return []commit{w.signOff(false)} }
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A").put("trigger/A", "").put("trigger/B", "") }
	for _, c := range []stepCase{
		{name: "all that it has", want: []string{"- instances/A", "- sessions/A"}},
		{name: "what is left of it", tree: func(f *fixture) { f.remove("instances/A", "trigger/A") }, want: []string{"- sessions/A"}},
		{name: "nothing is left of it", tree: func(f *fixture) { f.remove("instances/A", "trigger/A", "sessions/A") }},
		{name: "as leader", tree: func(f *fixture) { f.leader("A") }, want: []string{"- instances/A", "- leader/election/instance", "- sessions/A"}},
		{name: "not as leader", tree: func(f *fixture) { f.leader("B") }, want: []string{"- instances/A", "- sessions/A"}},
		{
			name: "a stranger has put nodes below its own",
			tree: func(f *fixture) {
				f.leader("A").put("instances/A/x", "").put("sessions/A/x", "").put("trigger/A/x", "").put("faults/A/x", "").put("leader/election/instance/x", "")
			},
			want: []string{
				"- faults/A/x", "- instances/A", "- instances/A/x", "- leader/election/instance", "- leader/election/instance/x",
				"- sessions/A", "- sessions/A/x",
			},
		},
		{
			name: "with its trigger, which nobody is there to obey",
			tree: func(f *fixture) { f.remove("instances/B") },
			want: []string{"- instances/A", "- sessions/A", "- trigger/A"},
		},
		{
			name: "with its trigger, because the job is no more",
			tree: func(f *fixture) { f.remove("config") },
			want: []string{"- instances/A", "- sessions/A", "- trigger/A"},
		},
	} {
		c.run(t, base, signsOff)
	}
}

func TestWhoIsWho(t *testing.T) {
	f := given(t)
	f.members("A", "B", "C", "D").leader("A")
	f.put("servers/host-B", "DISABLED").remove("instances/C").crash("D")
	for _, c := range []struct {
		id                              string
		registered, active, leads, dead bool
	}{
		{"A", true, true, true, false},
		{"B", true, false, false, false},
		{"C", false, false, false, false},
		{"D", false, false, false, true},
		{"", false, false, false, true},
	} {
		w := f.world(cmp.Or(c.id, "X"))
		w.self.id = c.id
		if w.registered() != c.registered || w.active() != c.active || w.leads() != c.leads || w.dead(c.id) != c.dead {
			t.Errorf("%q: registered %v, active %v, leads %v, dead %v", c.id, w.registered(), w.active(), w.leads(), w.dead(c.id))
		}
	}
	w := f.world("A")
	w.leaving = true
	if w.active() || !w.registered() {
		t.Error("one that leaves is registered, and begins nothing")
	}
	w.self.session++
	if w.registered() || w.leads() {
		t.Error("the nodes of an earlier session are not this one's")
	}
}

func TestObey(t *testing.T) {
	obeys := func(w *world) []commit {
		commit, _ := w.obey()
		return one(commit)
	}
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	request := func(r jobtree.Request) string {
		value, err := jobtree.EncodeRequest(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(value)
	}
	for _, c := range []stepCase{
		{name: "nothing is asked"},
		{name: "somebody else is", tree: func(f *fixture) { f.put("trigger/B", "") }},
		{name: "all items", tree: func(f *fixture) { f.put("trigger/A", "") }, want: []string{"- trigger/A"}},
		{name: "some items", tree: func(f *fixture) { f.put("trigger/A", request(jobtree.Request{ID: "1", Items: []int{0, 2}})) }, want: []string{"- trigger/A"}},
		{name: "nonsense", tree: func(f *fixture) { f.put("trigger/A", "items: all") }, want: []string{"- trigger/A"}},
		{name: "with a disabled server", tree: func(f *fixture) { f.put("trigger/A", "").put("servers/host-A", "DISABLED") }, want: []string{"- trigger/A"}},
	} {
		c.run(t, base, obeys)
	}
	t.Run("conditions", func(t *testing.T) {
		asked := func(f *fixture) { base(f); f.put("trigger/A", "") }
		for _, c := range []conflictCase{
			{"more is asked", func(f *fixture) { f.put("trigger/A", "") }},
			{"it was taken, and no answer came", func(f *fixture) { f.remove("trigger/A") }},
			{"the session ends", func(f *fixture) { f.crash("A") }},
		} {
			c.run(t, asked, obeys)
		}
	})
}

func TestRequested(t *testing.T) {
	f := given(t)
	f.members("A", "B").deal("A", "B", "A", "A")
	for _, c := range []struct {
		items, want []int
	}{
		{nil, []int{0, 2}},           // item 3 is beyond the total
		{[]int{2, 1}, []int{2, 1}},   // those of others are passed on
		{[]int{3, 17}, []int{3, 17}}, // those that are no more are let go later
	} {
		if got := f.world("A").requested(jobtree.Request{Items: c.items}); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.items, got, c.want)
		}
	}
}

func TestPassOn(t *testing.T) {
	passes := func(w *world) []commit {
		commit, err := w.passOn("B", []int{1}, manual{parameter: "x"})
		if err != nil {
			panic(err)
		}
		return one(commit)
	}
	base := func(f *fixture) { f.members("A", "B").deal("A", "B", "A") }
	for _, c := range []stepCase{
		{name: "to its owner", want: []string{"+ trigger/B = items: [1]\nparameter: \"x\"\n"}},
		{name: "to what waits there", tree: func(f *fixture) { f.put("trigger/B", "request: r\nitems: [4]\nparameter: y\n") }, want: []string{"+ trigger/B = items: [1, 4]\nparameter: \"x\"\n"}},
		{name: "its owner has gone", tree: func(f *fixture) { f.crash("B") }},
		{name: "its owner leaves", tree: func(f *fixture) { f.claim("B", 1, tick(1)); f.remove("instances/B") }},
		{name: "its owner was disabled", tree: func(f *fixture) { f.put("servers/host-B", "DISABLED") }},
	} {
		c.run(t, base, passes)
	}
	for _, c := range []conflictCase{
		{"its owner leaves", func(f *fixture) { f.remove("instances/B") }},
		{"somebody else asks", func(f *fixture) { f.put("trigger/B", "") }},
		{"the session ends", func(f *fixture) { f.crash("A") }},
	} {
		c.run(t, base, passes)
	}
}

func TestManually(t *testing.T) {
	base := func(f *fixture) {
		f.members("A", "B").deal("A", "B", "A").put("sharding/0/fired", "2026-01-05T10:00:05.000Z")
		f.now = tick(1).Add(1234 * time.Millisecond)
	}
	all := map[int]manual{0: {parameter: "x"}, 1: {}, 2: {}, 7: {}}
	begins := func(w *world) []commit { return w.manually(all) }
	const at = "2026-01-05T10:00:06.234Z"
	zero := []string{"+ sharding/0/fired = 2026-01-05T10:00:05.000Z " + at, "+ sharding/0/running = A"}
	two := []string{"+ sharding/2/fired = 2026-01-05T10:00:00.000Z " + at, "+ sharding/2/running = A"}
	for _, c := range []stepCase{
		{name: "its items, whatever their ticks", want: append(slices.Clone(zero), two...)},
		{name: "one that runs waits", tree: func(f *fixture) { f.claim("A", 2, tick(1)) }, want: zero},
		{name: "one that has not returned waits", tree: func(f *fixture) { f.runs[0] = &run{} }, want: two},
		{name: "a disabled one", tree: func(f *fixture) { f.put("sharding/2/disabled", "") }, want: zero},
		{name: "a disabled server", tree: func(f *fixture) { f.put("servers/host-A", "DISABLED") }},
		{name: "on the way out", tree: func(f *fixture) { f.leaving = true }},
		{
			name: "an item without a record of ticks",
			tree: func(f *fixture) { f.remove("sharding/2/fired") },
			want: append(slices.Clone(zero), "+ sharding/2/fired =  "+at, two[1]),
		},
		{
			name:   "without a schedule",
			config: func(c *Config) { c.Cron = "" },
			want:   append(slices.Clone(zero), two...),
		},
	} {
		c.run(t, base, begins)
	}
	t.Run("what begins", func(t *testing.T) {
		f := given(t)
		base(f)
		commits := f.world("A").manually(all)
		if len(commits) != 1 || len(commits[0].claims) != 2 {
			t.Fatalf("got %+v", commits)
		}
		r := commits[0].claims[0]
		if r.item != 0 || r.source != SourceManual || r.param != "x" || !r.tick.Equal(f.now) || !r.last.Equal(tick(1)) || r.instance != "A" {
			t.Errorf("got %+v", *r)
		}
	})
	t.Run("a tick is due all the same", func(t *testing.T) {
		f := given(t)
		base(f)
		f.now = tick(2).Add(-time.Second)
		f.changes("A", f.world("A").manually(all)...)
		f.remove("sharding/0/running", "sharding/2/running")
		f.now = tick(2)
		var items []int
		for _, c := range fires(f.world("A")) {
			for _, r := range c.claims {
				items = append(items, r.item)
			}
		}
		if slices.Sort(items); !slices.Equal(items, []int{0, 2}) {
			t.Errorf("items %v begin", items)
		}
	})
	if commits := given(t).members("A").deal("A").world("A").manually(nil); commits != nil {
		t.Errorf("nothing was triggered, and %v", commits)
	}
}

func TestUndealt(t *testing.T) {
	for _, c := range []struct {
		name  string
		tree  func(*fixture)
		items []int
		want  bool
	}{
		{"all have owners", nil, nil, false},
		{"nothing was dealt yet", func(f *fixture) { f.remove("sharding") }, nil, true},
		{"an owner has gone", func(f *fixture) { f.crash("B") }, nil, true},
		{"of an item that is not asked for", func(f *fixture) { f.crash("B") }, []int{0, 2}, false},
		{"and the item runs", func(f *fixture) { f.crash("B"); f.put("sharding/1/running", "B") }, nil, false},
		{"an item has none", func(f *fixture) { f.remove("sharding/1/instance") }, []int{1}, true},
		{"nobody could have it", func(f *fixture) { f.crash("B").crash("A") }, nil, false},
		{"nobody may have it", func(f *fixture) { f.crash("B"); f.put("servers/host-A", "DISABLED") }, nil, false},
	} {
		f := given(t)
		f.members("A", "B").deal("A", "B", "A")
		if c.tree != nil {
			c.tree(f)
		}
		if got := undealt(f.world("A").State, c.items, ""); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestAskers(t *testing.T) {
	for _, c := range []struct {
		name  string
		tree  func(*fixture)
		items []int
		want  map[string][]int
	}{
		{"everybody", nil, nil, map[string][]int{"A": {0, 2}, "B": {1}}},
		{"one item", nil, []int{1}, map[string][]int{"B": {1}}},
		{"items that are not there", nil, []int{9}, nil},
		{"a disabled item", func(f *fixture) { f.put("sharding/2/disabled", "") }, nil, map[string][]int{"A": {0}, "B": {1}}},
		{"a disabled server", func(f *fixture) { f.put("servers/host-B", "DISABLED") }, nil, map[string][]int{"A": {0, 2}}},
		{"nobody", func(f *fixture) { f.crash("A").crash("B") }, nil, nil},
		{"one that runs by failover, of an owner that has gone", func(f *fixture) { f.crash("B"); f.takenOver("A", 1, tick(1)) }, []int{1}, map[string][]int{"A": {1}}},
		{"joined to what waits", func(f *fixture) { f.put("trigger/A", "request: old\nitems: [0]\nparameter: x\n") }, []int{2}, map[string][]int{"A": {0, 2}}},
		{"what waits is for all", func(f *fixture) { f.put("trigger/A", "") }, []int{2}, map[string][]int{"A": nil}},
		{"what waits cannot be read", func(f *fixture) { f.put("trigger/A", "items: all") }, []int{2}, map[string][]int{"A": {2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := given(t)
			f.members("A", "B").deal("A", "B", "A")
			if c.tree != nil {
				c.tree(f)
			}
			ids, ops, err := askers(f.world("A").State, f.job, jobtree.Request{ID: "new", Items: c.items})
			if err != nil {
				t.Fatal(err)
			}
			if want := slices.Sorted(maps.Keys(c.want)); !slices.Equal(ids, want) {
				t.Fatalf("asked %v, want %v", ids, want)
			}
			for _, group := range ops {
				f.must(0, group...)
			}
			for id, items := range c.want {
				trigger := f.world("A").Triggers[id]
				if trigger.Err != nil || !slices.Equal(trigger.Request.Items, items) || trigger.Request.ID != "new" {
					t.Errorf("%s is asked for %+v, want items %v", id, trigger, items)
				}
			}
		})
	}
}

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		waiting, r, want jobtree.Request
	}{
		{jobtree.Request{ID: "1"}, jobtree.Request{ID: "2", Items: []int{1}}, jobtree.Request{ID: "2"}},
		{jobtree.Request{ID: "1", Items: []int{1}}, jobtree.Request{ID: "2"}, jobtree.Request{ID: "2"}},
		{jobtree.Request{Items: []int{3, 1}}, jobtree.Request{Items: []int{1, 0}}, jobtree.Request{Items: []int{0, 1, 3}}},
		{jobtree.Request{Parameter: "x"}, jobtree.Request{Parameter: "y"}, jobtree.Request{Parameter: "y"}},
		{jobtree.Request{Parameter: "x"}, jobtree.Request{}, jobtree.Request{Parameter: "x"}},
	} {
		got := merge(c.waiting, c.r)
		if got.ID != c.want.ID || got.Parameter != c.want.Parameter || !slices.Equal(got.Items, c.want.Items) {
			t.Errorf("%+v and %+v: got %+v, want %+v", c.waiting, c.r, got, c.want)
		}
	}
}

// TestStepsAreContentWithAnything: whatever stands in the tree, also what no program
// would write, no step fails on it, and what each wants is a commit that a store takes.
func TestStepsAreContentWithAnything(t *testing.T) {
	paths := []string{
		"sharding/%d/instance", "sharding/%d/running", "sharding/%d/fired", "sharding/%d/misfire", "sharding/%d/disabled",
		"sharding/%d/failover", "sharding/%d/failovering", "sharding/%d", "leader/failover/items/%d",
	}
	values := []string{"", "A", "B", "X", "2026-01-05T10:00:00.000Z", "2026-01-05T10:00:05.000Z 2026-01-05T10:00:04.000Z", "\x00", "2026"}
	rapid.Check(t, func(r *rapid.T) {
		f := given(t, func(c *Config) {
			c.ShardingTotalCount = rapid.IntRange(1, 4).Draw(r, "total")
			c.MonitorExecution = ToggleOf(rapid.IntRange(0, 4).Draw(r, "monitor") > 0)
			c.Failover = c.MonitorExecution == On && rapid.Bool().Draw(r, "failover")
			c.Misfire = ToggleOf(rapid.Bool().Draw(r, "misfire"))
			c.StaticSharding = rapid.Bool().Draw(r, "static")
		})
		f.members("A", "B")
		if rapid.Bool().Draw(r, "leads") {
			f.leader("A")
		}
		for range rapid.IntRange(0, 20).Draw(r, "nodes") {
			path := fmt.Sprintf(rapid.SampledFrom(paths).Draw(r, "path"), rapid.IntRange(0, 5).Draw(r, "item"))
			f.put(path, rapid.SampledFrom(values).Draw(r, "value"))
		}
		for _, path := range []string{"trigger/A", "trigger/X", "servers/host-A", "servers/host-X", "leader/sharding/necessary", "schedule"} {
			if rapid.IntRange(0, 3).Draw(r, path) == 0 {
				f.put(path, rapid.SampledFrom(values).Draw(r, "value"))
			}
		}
		f.now = tick(rapid.IntRange(0, 3).Draw(r, "now"))
		w := f.world("A")
		var commits []commit
		want := func(more ...commit) { commits = append(commits, more...) }
		want(registers(w)...)
		want(one(w.elect())...)
		want(one(w.abdicate())...)
		want(one(w.stepDown())...)
		want(w.signOff(false))
		want(recovers(w)...)
		want(w.clean()...)
		want(w.sweep()...)
		want(assigns(w)...)
		want(fires(w)...)
		want(w.takeOver()...)
		want(w.manually(map[int]manual{0: {}, 1: {}, 2: {}})...)
		for _, i := range w.leftovers() {
			want(w.settle(i))
		}
		commit, _ := w.obey()
		want(one(commit)...)
		for i := range 6 {
			owner := w.Item(i).Owner
			if owner == nil {
				continue
			}
			commit, err := w.passOn(owner.ID, []int{i}, manual{})
			if err != nil {
				r.Fatal(err)
			}
			want(one(commit)...)
		}
		var runs []*run
		for i := range w.Items {
			if fired := w.Items[i].Fired; fired != nil {
				runs = append(runs, returned(&run{item: i, token: fired.Modified, instance: "A", group: &group{}}, nil))
			}
		}
		want(w.finish(runs)...)
		want(w.handOver(runs)...)
		for _, c := range commits {
			if err := coord.ValidateCommit(c.ops...); err != nil {
				r.Fatalf("%s: %v", c.step, err)
			}
			for _, op := range c.ops {
				if op.Kind.Writes() && !coord.Within(op.Path, "settle") {
					r.Fatalf("%s writes %s", c.step, op.Path)
				}
			}
		}
	})
}
