package mixed

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/jvmmember"
)

const ms = time.Millisecond

// What JVM members do whatever Go instances do beside them, in the real ElasticJob, too.
var (
	// A fire that repeats what was cut short runs nothing else: the other items of that JVM member miss the tick.
	repeats = count{missed: 6}
	// A JVM leader assigns in its fire: it moves items that a Go instance has begun for the tick to JVM members that wait
	// for the deal and then run them, too, and items that nobody has begun to where they are not made up.
	leadsJVM = count{missed: 8, doubled: 8}
)

// TestOneKind is for comparison: what one kind of members loses alone. What JVM members lose in kills
// and toggles they lose in the real ElasticJob, too.
func TestOneKind(t *testing.T) {
	kills := func(c *cluster) {
		for n, name := range []string{"5", "6", "7"} {
			c.ticks(5, 500*ms)
			c.alive()[n].kill()
			c.ticks(5, 1500*ms)
			c.several(c.alive()[0].name[:1] + name)
		}
	}
	toggles := func(c *cluster) { c.toggleAround(c.alive()[2], 20, 20*ms) }
	play(t, "alone", []scenario{
		{name: "Go, nothing happens", begin: starting("g1", "g2", "g3", "g4")},
		{name: "Go, kills", setting: setting{failover: true, work: time.Second}, begin: starting("g1", "g2", "g3", "g4"), then: kills},
		{name: "Go, toggles", begin: starting("g1", "g2", "g3", "g4"), then: toggles},
		{name: "JVM, nothing happens", begin: starting("j1", "j2", "j3", "j4")},
		{name: "JVM, kills", setting: setting{failover: true, work: time.Second}, begin: starting("j1", "j2", "j3", "j4"), then: kills, allowed: everything},
		{name: "JVM, toggles", begin: starting("j1", "j2", "j3", "j4"), then: toggles, allowed: everything},
	})
}

// TestTwoKinds is for comparison, too: nothing happens.
func TestTwoKinds(t *testing.T) {
	play(t, "two kinds", []scenario{
		{name: "Go leads", begin: starting("g1", "j1", "j2", "g2"), leads: golang},
		{name: "JVM leads", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm},
		{name: "JVM leads, work of a second, failover", setting: setting{work: time.Second, failover: true}, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm},
		{name: "Go leads, no records", setting: setting{without: "monitor"}, begin: starting("g1", "j1", "j2", "g2"), leads: golang},
		{name: "JVM leads, no records", setting: setting{without: "monitor"}, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm},
		{name: "Go leads, no make-ups", setting: setting{without: "misfire"}, begin: starting("g1", "j1", "j2", "g2"), leads: golang},
		{name: "JVM leads, no make-ups", setting: setting{without: "misfire"}, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm},
		{name: "Go leads, work of a second, failover", setting: setting{work: time.Second, failover: true}, begin: starting("g1", "j1", "j2", "g2"), leads: golang},
	})
}

// toggleAround disables a server around each of some ticks: some time before, and until some time
// after it, up to the time that is given.
func (c *cluster) toggleAround(p *process, times int, around time.Duration) {
	c.t.Helper()
	drawn := func() time.Duration { return time.Duration(c.random.Int64N(int64(around))) }
	for range times {
		c.ticks(1, -around)
		c.wait(drawn())
		c.disable(p)
		if time.Until(c.next()) <= around {
			c.ticks(1, 0)
		}
		c.wait(drawn())
		c.enable(p)
		c.wait(around)
	}
}

func TestD1NoGoInstanceEverLed(t *testing.T) {
	play(t, "D1", []scenario{{
		name: "no Go instance ever led", begin: starting("j1", "j2", "g1", "g2"), leads: jvm,
	}, {
		name: "the cron expression changes while a JVM leads", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm,
		then: func(c *cluster) {
			c.ticks(10, 3*time.Second)
			c.configure(setting{cron: "2/5 * * * * ?"})
		},
	}, {
		name: "there are more items while a JVM leads", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm,
		then: func(c *cluster) {
			c.ticks(10, 1500*ms)
			c.configure(setting{total: 12})
		},
	}})
}

func TestD2ComingAndGoingBetweenTicks(t *testing.T) {
	minutes := setting{cron: "0 * * * * ?", ticks: 6}
	members := afterGo("j1", "j2", "g1", "g2")
	play(t, "D2", []scenario{{
		name: "a Go instance leaves", setting: minutes, begin: members, leads: jvm,
		then: func(c *cluster) { c.ticks(2, 10*time.Second); c.member("g1").leave() },
	}, {
		name: "a Go instance leaves right before the tick", setting: minutes, begin: members, leads: jvm,
		then: func(c *cluster) { c.ticks(2, -100*ms); c.member("g1").leave() },
	}, {
		name: "a Go instance joins", setting: minutes, begin: members, leads: jvm,
		then: func(c *cluster) { c.ticks(2, 10*time.Second); c.several("g3") },
	}, {
		name: "a Go instance joins right before the tick", setting: minutes, begin: members, leads: jvm,
		then: func(c *cluster) { c.ticks(2, -100*ms); c.several("g3") },
	}, {
		name: "a JVM joins", setting: minutes, begin: members, leads: jvm,
		then: func(c *cluster) { c.ticks(2, 10*time.Second); c.several("j3") },
	}, {
		name: "a JVM joins, Go leads", setting: minutes, begin: starting("g1", "g2", "j1", "j2"), leads: golang,
		then: func(c *cluster) { c.ticks(2, 10*time.Second); c.several("j3") },
	}, {
		name: "a JVM leaves, Go leads", setting: minutes, begin: starting("g1", "g2", "j1", "j2"), leads: golang,
		then: func(c *cluster) { c.ticks(2, 10*time.Second); c.member("j1").leave() },
	}, {
		name: "a Go instance is killed", setting: minutes, begin: members, leads: jvm,
		then: func(c *cluster) { c.ticks(2, 10*time.Second); c.member("g1").kill() },
	}})
}

func TestD3LeavingWhileItemsRun(t *testing.T) {
	leave := func(names ...string) func(*cluster) {
		return func(c *cluster) {
			for _, name := range names {
				c.ticks(5, 500*ms)
				c.member(name).leave()
			}
		}
	}
	long := setting{work: 2 * time.Second, failover: true}
	play(t, "D3", []scenario{{
		name: "a Go instance leaves, JVM leads", setting: long, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: leave("g1"),
	}, {
		name: "a Go instance leaves, JVM leads, no failover", setting: setting{work: 2 * time.Second}, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: leave("g1"),
	}, {
		name: "a Go instance leaves, its work takes longer than a tick", setting: setting{work: 8 * time.Second, failover: true, cron: "0/20 * * * * ?"}, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: leave("g1"),
	}, {
		name: "both Go instances leave, JVM leads", setting: long, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: leave("g1", "g2"),
	}, {
		name: "a Go instance leaves, Go leads", setting: long, begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: leave("g2"),
	}})
}

func TestD4DealingWhileJVMsFire(t *testing.T) {
	toggle := func(name string, around time.Duration) func(*cluster) {
		return func(c *cluster) { c.toggleAround(c.member(name), 20, around) }
	}
	members := starting("g1", "g2", "j1", "j2")
	// What a JVM does not run because its server is disabled when its fire looks, nobody knows of. JVM
	// members alone lose as much, and begin more twice.
	unknown := count{missed: 20}
	play(t, "D4", []scenario{
		{name: "a JVM's server around each tick, 5 ms", begin: members, leads: golang, then: toggle("j1", 5*ms), allowed: unknown},
		{name: "a JVM's server around each tick, 50 ms", begin: members, leads: golang, then: toggle("j1", 50*ms), allowed: unknown},
		{name: "a JVM's server around each tick, 1 s", begin: members, leads: golang, then: toggle("j1", time.Second), allowed: unknown},
		{name: "a Go instance's server around each tick, 50 ms", begin: members, leads: golang, then: toggle("g2", 50*ms)},
		{name: "a Go instance's server around each tick, 1 s", begin: members, leads: golang, then: toggle("g2", time.Second)},
		{name: "a JVM's server around each tick, JVM leads", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: toggle("j2", 50*ms), allowed: leadsJVM},
		{name: "a Go instance's server around each tick, JVM leads", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: toggle("g1", 50*ms), allowed: leadsJVM},
		{name: "JVMs come and go at ticks", begin: members, leads: golang, then: func(c *cluster) {
			for _, name := range []string{"j3", "j4", "j5", "j6"} {
				c.ticks(3, -20*ms)
				j := c.start(jvm, name)
				c.ticks(3, -20*ms)
				j.leave()
			}
		}},
		{name: "Go instances come and go at ticks", begin: members, leads: golang, then: func(c *cluster) {
			for _, name := range []string{"g3", "g4", "g5", "g6"} {
				c.ticks(3, -20*ms)
				g := c.start(golang, name)
				c.ticks(3, -20*ms)
				g.leave()
			}
		}},
	})
}

func TestD5ItemsMoveToAndFro(t *testing.T) {
	swap := func(names ...string) func(*cluster) {
		return func(c *cluster) {
			for range 4 {
				c.ticks(4, 1500*ms)
				for _, name := range names {
					c.disable(c.member(name))
				}
				c.ticks(4, 1500*ms)
				for _, name := range names {
					c.enable(c.member(name))
				}
			}
		}
	}
	play(t, "D5", []scenario{
		{name: "from JVMs to Go and back, Go leads", begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: swap("j1", "j2")},
		{name: "from one JVM and back, Go leads", begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: swap("j1")},
		{name: "from Go to JVMs and back, JVM leads", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: swap("g1", "g2")},
		{name: "from one JVM and back, JVM leads", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: swap("j2")},
		{name: "the leader's server, Go leads", begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: swap("g1")},
		{name: "the leader's server, JVM leads", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: swap("j1")},
	})
}

func TestD6FailoverOfWhatAJVMHadBegun(t *testing.T) {
	kill := func(names ...string) func(*cluster) {
		return func(c *cluster) {
			c.ticks(5, 500*ms)
			for _, name := range names {
				c.member(name).kill()
			}
		}
	}
	short := setting{work: 1500 * ms, failover: true}
	old := setting{work: 1500 * ms, failover: true, session: 20 * time.Second}
	newer := setting{work: 1500 * ms, failover: true, release: jvmmember.V305}
	play(t, "D6", []scenario{
		{name: "Go leads", setting: short, begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: kill("j1")},
		{name: "Go leads, the session outlasts ticks", setting: old, begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: kill("j1")},
		{name: "JVM leads", setting: short, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: kill("j2")},
		{name: "Go leads, 3.0.5", setting: newer, begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: kill("j1")},
		{name: "JVM leads, 3.0.5", setting: newer, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: kill("j2")},
		{name: "the JVM that leads", setting: short, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: kill("j1"), allowed: repeats},
		{name: "both JVMs", setting: short, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: kill("j1", "j2"), allowed: repeats},
	})
}

func TestD7SeveralAreKilled(t *testing.T) {
	kill := func(names ...string) func(*cluster) {
		return func(c *cluster) {
			c.ticks(5, 500*ms)
			for _, name := range names {
				c.member(name).kill()
			}
		}
	}
	short := setting{work: 1500 * ms, failover: true}
	// A JVM may deal items to an instance that has died since it looked. Nobody asks it for another
	// deal if no Go instance is left.
	forLong := count{missed: 8 * 60}
	play(t, "D7", []scenario{
		{name: "two Go instances, JVM leads", setting: short, begin: afterGo("j1", "j2", "g1", "g2", "g3"), leads: jvm, then: kill("g1", "g2"), allowed: leadsJVM},
		{name: "two Go instances, JVMs remain", setting: short, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: kill("g1", "g2"), allowed: forLong},
		{name: "one of each, JVM leads", setting: short, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: kill("j2", "g1")},
		{name: "one of each, Go leads", setting: short, begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: kill("g2", "j1"), allowed: repeats},
		{name: "the leader and one of the others, Go leads", setting: short, begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: kill("g1", "j1"), allowed: repeats},
	})
}

func TestD8RunningIsRemovedDuringAFailover(t *testing.T) {
	remove := func(victim string) func(*cluster) {
		return func(c *cluster) {
			c.ticks(5, 500*ms)
			c.member(victim).kill()
			var again []*execution
			c.await("a failover runs", 30*time.Second, func() bool {
				again = c.ledger.listed(func(e *execution) bool { return e.source == failover && e.ending == runs })
				return len(again) > 0 && time.Since(again[0].begin) > 300*ms
			})
			for _, e := range again {
				c.remove(tree.Running(e.item))
			}
		}
	}
	long := setting{work: 3 * time.Second, failover: true}
	// The owner of an item that does not run by the tree begins it, while another instance runs it: a
	// external writer has removed the record.
	cut := count{doubled: 2, overlapping: 2, unrecovered: 2}
	both := cut
	both.missed = repeats.missed
	play(t, "D8", []scenario{
		{name: "without a JVM", setting: long, begin: starting("g1", "g2", "g3", "g4"), leads: golang, then: remove("g3"), allowed: cut},
		{name: "a Go instance was killed, Go leads", setting: long, begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: remove("g2"), allowed: both},
		{name: "a JVM was killed, Go leads", setting: long, begin: starting("g1", "g2", "j1", "j2"), leads: golang, then: remove("j2"), allowed: both},
		{name: "a Go instance was killed, JVM leads", setting: long, begin: afterGo("j1", "g1", "g2", "g3"), leads: jvm, then: remove("g3"), allowed: both},
	})
}

// A JVM that is busy when somebody dies takes an item over at the end of its run. If the Go instance
// that owns the item by then begins it first, tick after tick, the JVM never finds it idle, and until
// it does it looks at no other item.
func TestTakenOverFromAGoOwner(t *testing.T) {
	kill := func(c *cluster) {
		work := c.setting.work
		c.wait(time.Duration(c.random.Int64N(int64(2 * time.Second)))) // its last sign of life comes at any time
		c.ticks(5, time.Duration(c.random.Int64N(int64(work))))
		c.member("j1").kill()
	}
	play(t, "taken over from a Go owner", []scenario{
		{name: "Go leads", setting: setting{work: 3 * time.Second, failover: true, session: 6 * time.Second}, begin: starting("g1", "j1", "j2"), leads: golang, then: kill, allowed: repeats},
		{name: "Go leads, short session", setting: setting{work: 2 * time.Second, failover: true, session: 6500 * ms}, begin: starting("g1", "j1", "j2"), leads: golang, then: kill, allowed: repeats},
		{name: "Go leads, frequent ticks", times: 8, setting: setting{cron: "0/2 * * * * ?", work: 700 * ms, failover: true, session: 4 * time.Second}, begin: starting("g1", "j1", "j2"), leads: golang, then: kill, allowed: repeats},
		{name: "JVM leads", setting: setting{work: 3 * time.Second, failover: true, session: 6 * time.Second}, begin: afterGo("j2", "g1", "j1"), leads: jvm, then: kill, allowed: repeats},
	})
}

func TestD9AGoLeaderGoes(t *testing.T) {
	goes := func(how func(*cluster, *process)) func(*cluster) {
		return func(c *cluster) { c.ticks(10, 1500*ms); how(c, c.member("g1")) }
	}
	leave := func(_ *cluster, p *process) { p.leave() }
	disable := func(c *cluster, p *process) { c.disable(p) }
	kill := func(_ *cluster, p *process) { p.kill() }
	play(t, "D9", []scenario{
		{name: "it leaves, JVMs remain", begin: starting("g1", "j1", "j2"), leads: golang, then: goes(leave)},
		{name: "it leaves", begin: starting("g1", "j1", "j2", "g2"), leads: golang, then: goes(leave)},
		{name: "it is disabled, JVMs remain", begin: starting("g1", "j1", "j2"), leads: golang, then: goes(disable)},
		{name: "it is disabled", begin: starting("g1", "j1", "j2", "g2"), leads: golang, then: goes(disable)},
		{name: "it is killed, JVMs remain", begin: starting("g1", "j1", "j2"), leads: golang, then: goes(kill)},
		{name: "its node is removed", begin: starting("g1", "j1", "j2", "g2"), leads: golang, then: goes(func(c *cluster, _ *process) { c.remove(tree.LeaderInstance()) })},
		{name: "a JVM leader's node is removed", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: goes(func(c *cluster, _ *process) { c.remove(tree.LeaderInstance()) })},
		{name: "a JVM leader leaves", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, then: goes(func(c *cluster, _ *process) { c.member("j1").leave() })},
	})
}

func TestD10AJVMLeaderDiesInItsDeal(t *testing.T) {
	play(t, "D10", []scenario{{
		// It has taken all items from their owners: nobody knows any more who has begun the tick.
		name: "while it assigns", begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm, allowed: count{missed: 8},
		then: func(c *cluster) {
			c.ticks(5, 1500*ms)
			c.several("g3")
			c.await("j1 assigns", 10*time.Second, func() bool { return c.state().Processing })
			c.member("j1").kill()
		},
	}, {
		name: "while it waits for what runs", setting: setting{ofGo: 7 * time.Second}, begin: afterGo("j1", "j2", "g1", "g2"), leads: jvm,
		then: func(c *cluster) {
			c.ticks(5, 1500*ms)
			c.several("g3")
			c.ticks(1, 500*ms)
			c.member("j1").kill()
		},
	}, {
		name: "its nodes stay", begin: starting("g1", "g2", "j1", "j2"), leads: golang,
		then: func(c *cluster) {
			c.ticks(5, 1500*ms)
			c.put(tree.Processing(), "")
			c.put(tree.Necessary(), "")
		},
	}})
}
