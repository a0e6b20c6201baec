package jvmmember_test

import (
	"fmt"
	"slices"
	"testing"

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

// deals is a deal: owners has the owner of each item in the order of the transaction, such as
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

// failsOver is a failover run from its begin to its end.
func failsOver(name string, item int) []string {
	return join(runs(name, item), ends(item), []string{fmt.Sprintf("-sharding/%d/failover", item), fmt.Sprintf("-sharding/%d/failovering", item)})
}

var (
	sets      = []string{"+config", "~=Demo"}
	flags     = []string{"+leader/sharding/necessary"}
	first     = func() [][]string { return [][]string{join(sets, elects("A"), online("A")), flags} }
	document  = with("jobName: demoJob", "cron: 0/4 * * * * ?")
	crashHead = func() []jvmmember.Listener {
		order := []jvmmember.Listener{jvmmember.Crashed}
		for _, l := range jvmmember.ShuffledOrder(1) {
			if l != jvmmember.Crashed {
				order = append(order, l)
			}
		}
		return order
	}
)

// The leader is killed in its run: the busy survivor puts the item up, elects itself, and takes
// the item when its own run has ended. It deals in the next fire, and leaves by its exit hook.
func TestHistoryOfAKilledLeader(t *testing.T) {
	t.Parallel()
	s := newStory(t, document)
	s.start("A")
	s.start("B", crashHead()...)
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
	if err := s.members["B"].Exit(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.compare(map[string][][]string{
		"A": append(first(), join(deals(true, 3, "0B", "2B", "1A"), runs("A", 1), ends(1), runs("A", 1), []string{"xinstances/@A", "xleader/election/instance"})),
		"B": {
			join(passes(), online("B"), runs("B", 0, 2), ends(0, 2), runs("B", 0, 2), ends(0, 2), claims("B", 1), failsOver("B", 1),
				deals(false, 3, "0B", "1B", "2B"), runs("B", 0, 1, 2), ends(0, 1, 2), []string{"-leader/election/instance", "-instances/@B"}),
			join(putsUp(1), elects("B"), flags, passes()),
		},
	})
}
