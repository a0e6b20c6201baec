package jvmmember_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/integration/jvmmember"
)

// The tables below are what was recorded of the real ElasticJob-Lite 3.0.4 on ZooKeeper, per
// process: the same stories are told with our members, and the server's own transaction log has
// to say the same.

func join(parts ...[]string) []string { return slices.Concat(parts...) }

// elects is an election that is won, passes one that another has won before.
func elects(name string) []string {
	return []string{"+leader/election/latch/*!", "+leader/election/instance=@" + name + "!", "-leader/election/latch/*"}
}

func passes() []string { return []string{"+leader/election/latch/*!", "-leader/election/latch/*"} }

// online registers an instance.
func online(name string) []string {
	ip := "#" + name[:1]
	return []string{"+servers/" + ip + "=ENABLED", "+instances/@" + name + "=jobInstanceId: @" + name + "|serverIp: " + ip + "|!"}
}

// assigns is a deal: owners has the owner of each item in the order of the transaction, such as
// "0B 2B 1A". The first deal makes the items, a later one removes their owners first.
func deals(first bool, total int, owners ...string) []string {
	lines := []string{"+leader/sharding/processing!"}
	for i := range total {
		if first {
			lines = append(lines, fmt.Sprintf("+sharding/%d", i))
		} else {
			lines = append(lines, fmt.Sprintf("-sharding/%d/instance", i))
		}
	}
	for _, o := range owners {
		lines = append(lines, fmt.Sprintf("+sharding/%s/instance=@%s", o[:1], o[1:]))
	}
	return append(lines, "-leader/sharding/necessary", "-leader/sharding/processing")
}

func runs(name string, items ...int) []string {
	var lines []string
	for _, i := range items {
		lines = append(lines, fmt.Sprintf("+sharding/%d/running=@%s", i, name))
	}
	return lines
}

func ends(items ...int) []string {
	var lines []string
	for _, i := range items {
		lines = append(lines, fmt.Sprintf("-sharding/%d/running", i))
	}
	return lines
}

func putsUp(item int) []string {
	return []string{fmt.Sprintf("+leader/failover/items/%d", item), fmt.Sprintf("-sharding/%d/running", item)}
}

func claims(name string, item int) []string {
	return []string{
		"+leader/failover/latch/*!", fmt.Sprintf("+sharding/%d/failover=@%s!", item, name), fmt.Sprintf("+sharding/%d/failovering=@%s", item, name),
		fmt.Sprintf("-leader/failover/items/%d", item), "-leader/failover/latch/*",
	}
}

// stops are the lines of a session's end.
func stops(name string, leads bool) []string {
	lines := []string{"xinstances/@" + name}
	if leads {
		lines = append(lines, "xleader/election/instance")
	}
	return lines
}

// failsOver is a failover run from its begin to its end.
func failsOver(name string, item int) []string {
	return join(runs(name, item), ends(item), []string{fmt.Sprintf("-sharding/%d/failover", item), fmt.Sprintf("-sharding/%d/failovering", item)})
}

var (
	sets     = []string{"+config", "~=Demo"}
	flags    = []string{"+leader/sharding/necessary"}
	first    = func() [][]string { return [][]string{join(sets, elects("A"), online("A")), flags} }
	document = with("jobName: demoJob", "cron: 0/4 * * * * ?")
)

// withFirst is an order in which one listener is told before all others.
func withFirst(head jvmmember.Listener) []jvmmember.Listener {
	order := []jvmmember.Listener{head}
	for _, l := range jvmmember.ShuffledOrder(1) {
		if l != head {
			order = append(order, l)
		}
	}
	return order
}

// stories are those that are told; the first two are most of what there is to see.
var stories = []struct {
	name, document string
	slow           []string
	// inMemory is for a story whose turns are too close together for a busy machine.
	inMemory bool
	tell     func(*story)
}{
	{name: "killed leader", document: document, tell: tellAKilledLeader},
	{name: "killed follower", document: document, tell: tellAKilledFollower},
	{name: "join", document: with("jobName: demoJob", "cron: 0/4 * * * * ?", "shardingTotalCount: 4"), tell: tellAJoin},
	{name: "leader that exits", document: document, slow: []string{"A"}, tell: tellALeaderThatExits},
	{name: "shut-down", document: document, tell: tellAShutDown},
	{name: "disabled leader", document: document, slow: []string{"A"}, tell: tellADisabledLeader},
	{name: "triggers", document: with("jobName: demoJob", "cron: 0 0 0 1 1 ? 2099"), tell: tellTriggers},
	{name: "removed leader", document: with("jobName: demoJob", "cron: 0 0 0 1 1 ? 2099"), slow: []string{"A"}, tell: tellARemovedLeader},
	{name: "another total", document: document, tell: tellAnotherTotal},
	{name: "disabled servers", document: document, tell: tellDisabledServers},
	{name: "killed taker", document: document, slow: []string{"A"}, inMemory: true, tell: tellAKilledTaker},
	{name: "crash without failover", document: with("jobName: demoJob", "cron: 0/4 * * * * ?", "failover: false"), tell: tellACrashWithoutFailover},
	{name: "restart of all", document: document, tell: tellARestartOfAll},
	{name: "deal in one's own fire", document: with("jobName: demoJob", "cron: 0/4 * * * * ?", "shardingTotalCount: 4"), inMemory: true, tell: tellADealInOnesOwnFire},
}

func TestHistoriesInMemory(t *testing.T) {
	for _, c := range stories {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.NewStore(memory.Options{})
				t.Cleanup(store.Close)
				c.tell(newStory(t, &simulated{store: store, texts: map[string][]string{}}, c.document, c.slow...))
			})
		})
	}
}

// all tells all stories on ZooKeeper, as make mixed does. They go by ticks of real time.
var all = flag.Bool("all", false, "tell all stories on ZooKeeper")

func TestHistoriesOnZooKeeper(t *testing.T) {
	told := stories
	if !*all {
		told = stories[:2]
	}
	for _, c := range told {
		if c.inMemory {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			zookeeper := sharedServer(t)
			undisturbed(t, func(t testing.TB) {
				g := &server{server: zookeeper, space: newSpace(), names: map[coord.SessionID]string{}}
				c.tell(newStory(t, g, c.document, c.slow...))
			})
		})
	}
}

// The leader is killed in its run: the busy survivor puts the item up, elects itself, and takes
// the item when its own run has ended. It assigns in the next fire, and leaves by its exit hook.
func tellAKilledLeader(s *story) {
	s.start("A")
	s.start("B", withFirst(jvmmember.Crashed)...)
	s.there("leader/sharding/necessary")
	let(s.expect("0 B", "1 A", "2 B"))
	calls := s.expect("0 B", "1 A", "2 B")
	s.kill("A")
	s.there("leader/failover/items/1", "leader/sharding/necessary")
	s.quiet()
	delete(calls, "1 A")
	let(calls)
	let(s.expect("1 B"))
	let(s.expect("0 B", "1 B", "2 B"))
	s.gone("sharding/2/running")
	if err := s.exit("B"); err != nil {
		s.t.Fatal(err)
	}
	s.compare(map[string][][]string{
		"A": append(first(), join(deals(true, 3, "0B", "2B", "1A"), runs("A", 1), ends(1), runs("A", 1), stops("A", true))),
		"B": {
			join(passes(), online("B"), runs("B", 0, 2), ends(0, 2), runs("B", 0, 2), ends(0, 2), claims("B", 1), failsOver("B", 1),
				deals(false, 3, "0B", "1B", "2B"), runs("B", 0, 1, 2), ends(0, 1, 2), []string{"-leader/election/instance", "-instances/@B"}),
			join(putsUp(1), elects("B"), flags, passes()),
		},
	})
}

// The non-leader is killed in its run. The survivor is busy: it takes one item after the other
// when its own has ended, the last by the order of texts first. A tick that it misses meanwhile
// is made up after its next run.
func tellAKilledFollower(s *story) {
	s.start("A")
	s.start("B")
	s.there("leader/sharding/necessary")
	let(s.expect("0 B", "1 A", "2 B"))
	calls := s.expect("0 B", "1 A", "2 B")
	s.kill("B")
	s.there("leader/failover/items/0", "leader/failover/items/2", "leader/sharding/necessary")
	s.gone("sharding/2/running")
	s.settled("A")
	let(map[string]*call{"1 A": calls["1 A"]})
	let(s.expect("2 A"))
	calls = s.expect("0 A")
	s.pass(4 * time.Second)
	let(calls)
	let(s.expect("0 A", "1 A", "2 A"))
	let(s.expect("0 A", "1 A", "2 A"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running")
	s.compare(map[string][][]string{
		"A": {
			join(sets, elects("A"), online("A")),
			join(flags, flags, putsUp(0), putsUp(2), []string{"-trigger/@A"}),
			join(deals(true, 3, "0B", "2B", "1A"), runs("A", 1), ends(1), runs("A", 1), ends(1), claims("A", 2), failsOver("A", 2),
				claims("A", 0), failsOver("A", 0), []string{"+sharding/1/misfire"}, deals(false, 3, "0A", "1A", "2A"),
				runs("A", 0, 1, 2), ends(0, 1, 2), []string{"-sharding/1/misfire"}, runs("A", 0, 1, 2), ends(0, 1, 2)),
		},
		"B": {join(passes(), online("B"), runs("B", 0, 2), ends(0, 2), runs("B", 0, 2), stops("B", false))},
	})
}

// A third instance comes between two ticks: the leader flags, and assigns in its next fire.
func tellAJoin(s *story) {
	s.start("A")
	s.start("B")
	s.there("leader/sharding/necessary")
	let(s.expect("0 B", "1 B", "2 A", "3 A"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running", "sharding/3/running")
	s.start("C")
	s.there("leader/sharding/necessary")
	let(s.expect("0 C", "1 B", "2 A", "3 C"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running", "sharding/3/running")
	s.compare(map[string][][]string{
		"A": {
			join(sets, elects("A"), online("A")),
			join(flags, flags),
			join(deals(true, 4, "0B", "1B", "2A", "3A"), runs("A", 2, 3), ends(2, 3), deals(false, 4, "0C", "3C", "1B", "2A"), runs("A", 2), ends(2)),
		},
		"B": {join(passes(), online("B"), runs("B", 0, 1), ends(0, 1), runs("B", 1), ends(1))},
		"C": {join(passes(), online("C"), runs("C", 0, 3), ends(0, 3))},
	})
}

// The leader gets SIGTERM in its run: it ends the run first, and nobody takes anything over.
func tellALeaderThatExits(s *story) {
	s.start("A")
	s.start("B")
	s.there("leader/sharding/necessary")
	calls := s.expect("0 B", "1 A", "2 B")
	left := make(chan error, 1)
	go func() { left <- s.exit("A") }()
	let(calls)
	if err := <-left; err != nil {
		s.t.Fatal(err)
	}
	s.there("leader/sharding/necessary")
	let(s.expect("0 B", "1 B", "2 B"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running")
	s.compare(map[string][][]string{
		"A": append(first(), join(deals(true, 3, "0B", "2B", "1A"), runs("A", 1), ends(1), []string{"-leader/election/instance", "-instances/@A"})),
		"B": {
			join(passes(), online("B"), runs("B", 0, 2), ends(0, 2), deals(false, 3, "0B", "1B", "2B"), runs("B", 0, 1, 2), ends(0, 1, 2)),
			join(elects("B"), flags),
		},
	})
}

// The follower is shut down in its run by its program, which does not wait for the run. The other
// one takes that for a crash, and when the run ends its nodes are those of the other one's.
func tellAShutDown(s *story) {
	s.start("A")
	s.start("B")
	s.there("leader/sharding/necessary")
	calls := s.expect("0 B", "1 A", "2 B")
	s.members["B"].Shutdown()
	s.there("leader/failover/items/0", "leader/failover/items/2")
	s.gone("sharding/2/running")
	s.settled("A")
	let(map[string]*call{"1 A": calls["1 A"]})
	delete(calls, "1 A")
	again := s.expect("2 A")
	let(calls)
	<-s.members["B"].Done()
	let(again)
	let(s.expect("0 A"))
	s.gone("sharding/0/running", "sharding/0/failovering")
	s.compare(map[string][][]string{
		"A": {
			join(sets, elects("A"), online("A")),
			join(flags, flags, putsUp(0), putsUp(2), []string{"-trigger/@A"}),
			join(deals(true, 3, "0B", "2B", "1A"), runs("A", 1), ends(1), claims("A", 2), runs("A", 2), claims("A", 0), failsOver("A", 0)),
		},
		"B": {join(passes(), online("B"), runs("B", 0, 2), []string{
			"-instances/@B", "-sharding/2/running", "-sharding/2/failover", "-sharding/2/failovering", "+leader/failover/latch/*!", "-leader/failover/latch/*",
		})},
	})
}

// The leader's server is disabled: the other one is the leader, but nobody assigns, and the items of
// the disabled one do not run. When the server is enabled again the new leader assigns.
func tellADisabledLeader(s *story) {
	s.start("A")
	s.start("B")
	s.there("leader/sharding/necessary")
	let(s.expect("0 B", "1 A", "2 B"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running")
	s.operate(coord.Set, "servers/#A", "DISABLED")
	s.await("B leads", func(now coord.Snapshot) bool {
		n, _ := now.Get("demoJob/leader/election/instance")
		return string(n.Value) == s.members["B"].ID()
	})
	let(s.expect("0 B", "2 B"))
	s.gone("sharding/0/running", "sharding/2/running")
	<-time.After(time.Second) // until A is done with this tick, in which it runs nothing: nothing shows it
	s.operate(coord.Set, "servers/#A", "ENABLED")
	s.there("leader/sharding/necessary")
	let(s.expect("0 B", "1 A", "2 B"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running")
	s.compare(map[string][][]string{
		"A": append(first(), join(deals(true, 3, "0B", "2B", "1A"), runs("A", 1), ends(1), []string{"-leader/election/instance"}, runs("A", 1), ends(1))),
		"B": {
			join(passes(), online("B"), runs("B", 0, 2), ends(0, 2), runs("B", 0, 2), ends(0, 2), deals(false, 3, "0B", "2B", "1A"), runs("B", 0, 2), ends(0, 2)),
			join(elects("B"), flags),
		},
	})
}

// Triggers by hand: the follower waits until the leader, which has to be triggered, too, has
// assigned; a trigger in a run is dropped.
func tellTriggers(s *story) {
	s.start("A")
	s.start("B")
	s.there("leader/sharding/necessary")
	s.trigger("B")
	s.gone("trigger/@B")
	s.trigger("A")
	let(s.expect("0 B", "1 A", "2 B"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running")
	s.trigger("B")
	calls := s.expect("0 B", "2 B")
	s.settled("B")
	let(calls)
	s.gone("sharding/0/running", "sharding/2/running")
	s.compare(map[string][][]string{
		"A": append(first(), []string{"-trigger/@A"}, join(deals(true, 3, "0B", "2B", "1A"), runs("A", 1), ends(1))),
		"B": {
			join(passes(), online("B"), runs("B", 0, 2), ends(0, 2), runs("B", 0, 2), ends(0, 2)),
			[]string{"-trigger/@B", "-trigger/@B", "-trigger/@B"},
		},
	})
}

// Somebody removes the leader's node: all stand in the queue, and the first is the leader.
func tellARemovedLeader(s *story) {
	s.start("A")
	s.start("B")
	s.there("leader/sharding/necessary")
	<-time.After(time.Second) // until B has seen its own start: it would elect once more for it
	s.operate(func(path string, _ []byte) coord.Op { return coord.Delete(path) }, "leader/election/instance", "")
	s.await("B leads", func(now coord.Snapshot) bool {
		n, _ := now.Get("demoJob/leader/election/instance")
		return string(n.Value) == s.members["B"].ID()
	})
	s.await("A has stood in the queue, too", func(coord.Snapshot) bool {
		return strings.Count(strings.Join(s.history()["A"], " "), "-leader/election/latch/*") == 2
	})
	s.compare(map[string][][]string{
		"A": {join(sets, elects("A"), online("A")), join(flags, passes())},
		"B": {join(passes(), online("B"), elects("B"))},
	})
}

// The number of items grows between two runs, and shrinks in a run.
func tellAnotherTotal(s *story) {
	s.start("A")
	s.start("B")
	s.there("leader/sharding/necessary")
	let(s.expect("0 B", "1 A", "2 B"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running")
	change := func(total string) {
		s.operate(coord.Set, "config", strings.Replace(s.document, "shardingTotalCount: 3", "shardingTotalCount: "+total, 1))
	}
	change("5")
	s.there("leader/sharding/necessary")
	calls := s.expect("0 B", "1 B", "2 A", "3 A", "4 B")
	change("2")
	s.there("leader/sharding/necessary")
	let(calls)
	let(s.expect("0 B", "1 A"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2", "sharding/3", "sharding/4")
	s.compare(map[string][][]string{
		"A": {
			join(sets, elects("A"), online("A")),
			join(flags, flags, flags),
			join(deals(true, 3, "0B", "2B", "1A"), runs("A", 1), ends(1),
				[]string{"+leader/sharding/processing!", "-sharding/0/instance", "-sharding/1/instance", "-sharding/2/instance", "+sharding/3", "+sharding/4"},
				deals(true, 0, "0B", "1B", "4B", "2A", "3A")[1:], runs("A", 2, 3), ends(2, 3),
				[]string{
					"+leader/sharding/processing!", "-sharding/0/instance", "-sharding/1/instance", "-sharding/2/instance", "-sharding/2",
					"-sharding/3/instance", "-sharding/3", "-sharding/4/instance", "-sharding/4",
				},
				deals(true, 0, "0B", "1A")[1:], runs("A", 1), ends(1)),
		},
		"B": {join(passes(), online("B"), runs("B", 0, 2), ends(0, 2), runs("B", 0, 4, 1), ends(0, 4, 1), runs("B", 0), ends(0))},
	})
}

// All are killed in their run. A new process on one of the machines finds what runs, and runs it.
func tellARestartOfAll(s *story) {
	s.start("A")
	s.start("B")
	s.there("leader/sharding/necessary")
	s.expect("0 B", "1 A", "2 B")
	s.kill("A", "B")
	s.start("A2")
	let(s.expect("2 A2"))
	let(s.expect("1 A2"))
	let(s.expect("0 A2"))
	let(s.expect("0 A2", "1 A2", "2 A2"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running")
	s.compare(map[string][][]string{
		"A": append(first(), join(deals(true, 3, "0B", "2B", "1A"), runs("A", 1), stops("A", true))),
		"B": {join(passes(), online("B"), runs("B", 0, 2), stops("B", false))},
		"A2": {
			join(elects("A2"), []string{"~servers/#A=ENABLED"}, online("A2")[1:]),
			join(flags, putsUp(0), putsUp(1), putsUp(2), claims("A2", 2)),
			join(failsOver("A2", 2), claims("A2", 1), failsOver("A2", 1), claims("A2", 0), failsOver("A2", 0),
				deals(false, 3, "0A2", "1A2", "2A2"), runs("A2", 0, 1, 2), ends(0, 1, 2)),
		},
	})
}

// Both servers are disabled: nobody leads, and nobody runs anything. Who is enabled again is the
// leader at once, and assigns to itself.
func tellDisabledServers(s *story) {
	s.start("A", withFirst(jvmmember.ServersChanged)...)
	s.start("B")
	s.there("leader/sharding/necessary")
	let(s.expect("0 B", "1 A", "2 B"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running")
	s.operate(coord.Set, "servers/#B", "DISABLED")
	s.there("leader/sharding/necessary")
	s.operate(coord.Set, "servers/#A", "DISABLED")
	s.gone("leader/election/instance")
	s.pass(4 * time.Second)
	s.operate(coord.Set, "servers/#A", "ENABLED")
	let(s.expect("0 A", "1 A", "2 A"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running")
	s.compare(map[string][][]string{
		"A": {
			join(sets, elects("A"), online("A")),
			join(flags, flags, []string{"-leader/election/instance"}, elects("A")),
			join(deals(true, 3, "0B", "2B", "1A"), runs("A", 1), ends(1), deals(false, 3, "0A", "1A", "2A"), runs("A", 0, 1, 2), ends(0, 1, 2)),
		},
		"B": {join(passes(), online("B"), runs("B", 0, 2), ends(0, 2))},
	})
}

// The taker of an item is killed, too. The next one claims the item, finds it running, and does
// nothing: the item stands until somebody removes its node.
func tellAKilledTaker(s *story) {
	s.start("A")
	s.start("B")
	s.start("C")
	s.there("leader/sharding/necessary")
	calls := s.expect("0 C", "1 B", "2 A")
	let(map[string]*call{"1 B": calls["1 B"], "2 A": calls["2 A"]})
	s.gone("sharding/1/running", "sharding/2/running")
	<-time.After(time.Second / 2) // until A is done with its run, whose end nothing shows
	s.kill("C")
	s.expect("0 B")
	s.there("leader/sharding/necessary")
	<-time.After(time.Second) // until A is done with the first crash: nothing shows it
	s.kill("B")
	s.await("A has claimed", func(now coord.Snapshot) bool {
		n, _ := now.Get("demoJob/sharding/0/failovering")
		return string(n.Value) == s.members["A"].ID() && !now.Exists("demoJob/leader/failover/items/0")
	})
	s.quiet()
	s.compare(map[string][][]string{
		"A": {
			join(sets, elects("A"), online("A")),
			join(flags, flags, []string{
				"+leader/failover/items/0", "+leader/failover/latch/*!", "+sharding/0/failover=@A!", "~sharding/0/failovering=@A",
				"-leader/failover/items/0", "-leader/failover/latch/*",
			}),
			join(deals(true, 3, "0C", "1B", "2A"), runs("A", 2), ends(2)),
		},
		"B": {
			join(passes(), online("B"), runs("B", 1), ends(1), runs("B", 0), []string{"xinstances/@B", "xsharding/0/failover"}),
			join(putsUp(0), claims("B", 0)),
		},
		"C": {join(passes(), online("C"), runs("C", 0), stops("C", false))},
	})
}

// The leader assigns in its fire, and then reads the owners from its cache, which still has those before the deal: it
// runs what it has just given to B. B finds that running, and runs nothing. A flag of a misfire, which a Go owner
// of such an item set once, makes the leader run its whole fire again. The log of a real one, which a Go
// instance had joined, showed that several times for one tick.
func tellADealInOnesOwnFire(s *story) {
	s.behind = map[string]time.Duration{"A": 1500 * time.Millisecond}
	s.start("A")
	s.there("leader/sharding/necessary")
	let(s.expect("0 A", "1 A", "2 A", "3 A"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running", "sharding/3/running")
	s.start("B")
	s.there("leader/sharding/necessary")
	calls := s.expect("0 A", "1 A", "2 A", "3 A")
	s.gone("leader/sharding/necessary")
	s.await("B owns what A runs", func(now coord.Snapshot) bool {
		n, _ := now.Get("demoJob/sharding/0/instance")
		running, _ := now.Get("demoJob/sharding/0/running")
		return string(n.Value) == s.members["B"].ID() && string(running.Value) == s.members["A"].ID()
	})
	s.operate(coord.Create, "sharding/0/misfire", "")
	let(calls)
	let(s.expect("0 A", "1 A", "2 A", "3 A"))
	let(s.expect("0 B", "1 B", "2 A", "3 A"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running", "sharding/3/running")
	all := join(runs("A", 0, 1, 2, 3), ends(0, 1, 2, 3))
	s.compare(map[string][][]string{
		"A": {
			join(sets, elects("A"), online("A")),
			join(flags, flags),
			join(deals(true, 4, "0A", "1A", "2A", "3A"), all, deals(false, 4, "0B", "1B", "2A", "3A"), all,
				[]string{"-sharding/0/misfire"}, all, runs("A", 2, 3), ends(2, 3)),
		},
		"B": {join(passes(), online("B"), runs("B", 0, 1), ends(0, 1))},
	})
}

// Without failover the running nodes go with the session, and nobody takes anything over.
func tellACrashWithoutFailover(s *story) {
	s.start("A")
	s.start("B")
	s.there("leader/sharding/necessary")
	calls := s.expect("0 B", "1 A", "2 B")
	s.kill("B")
	s.there("leader/sharding/necessary")
	let(map[string]*call{"1 A": calls["1 A"]})
	let(s.expect("0 A", "1 A", "2 A"))
	s.gone("sharding/0/running", "sharding/1/running", "sharding/2/running")
	brief := func(lines []string) []string {
		for i, l := range lines {
			lines[i] = l + "!"
		}
		return lines
	}
	s.compare(map[string][][]string{
		"A": {
			join(sets, elects("A"), online("A")),
			join(flags, flags),
			join(deals(true, 3, "0B", "2B", "1A"), brief(runs("A", 1)), ends(1), deals(false, 3, "0A", "1A", "2A"), brief(runs("A", 0, 1, 2)), ends(0, 1, 2)),
		},
		"B": {join(passes(), online("B"), brief(runs("B", 0, 2)), []string{"xinstances/@B", "xsharding/0/running", "xsharding/2/running"})},
	})
}
