package mixed

import (
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/jvmmember"
)

// handOver starts members of the other kind one by one, and then lets the others leave, every few
// ticks.
func handOver(in []string, out ...string) func(*cluster) {
	return func(c *cluster) {
		c.t.Helper()
		for _, name := range in {
			c.ticks(3, 1500*ms)
			c.several(name)
		}
		for _, name := range out {
			c.ticks(3, 300*ms)
			c.member(name).leave()
		}
	}
}

func TestMigrationToGo(t *testing.T) {
	jvms := starting("j1", "j2", "j3")
	long := setting{work: time.Second, longest: 2 * time.Second, failover: true}
	play(t, "JVM → Go", []scenario{{
		name: "one by one", begin: jvms, leads: jvm, then: handOver([]string{"g1", "g2", "g3"}, "j1", "j2", "j3"),
	}, {
		name: "one by one, 3.0.5", setting: setting{release: jvmmember.V305}, begin: jvms, leads: jvm, then: handOver([]string{"g1", "g2", "g3"}, "j1", "j2", "j3"),
	}, {
		name: "one by one, on the same hosts", setting: setting{hosts: 3}, begin: jvms, leads: jvm, then: handOver([]string{"g1", "g2", "g3"}, "j1", "j2", "j3"),
	}, {
		name: "one by one, the leader last", begin: jvms, leads: jvm, then: handOver([]string{"g1", "g2", "g3"}, "j3", "j2", "j1"),
	}, {
		name: "one by one, items of a second and more", setting: long, begin: jvms, leads: jvm, then: handOver([]string{"g1", "g2", "g3"}, "j1", "j2", "j3"),
	}, {
		name: "a JVM is killed", setting: long, begin: jvms, leads: jvm,
		then: func(c *cluster) {
			handOver([]string{"g1", "g2"}, "j2")(c)
			c.ticks(3, 500*ms)
			c.member("j3").kill()
			c.ticks(3, 1500*ms)
			c.several("g3")
			handOver(nil, "j1")(c)
		},
	}, {
		name: "the JVM that leads is killed", setting: long, begin: jvms, leads: jvm,
		then: func(c *cluster) {
			handOver([]string{"g1", "g2"}, "j2")(c)
			c.ticks(3, 500*ms)
			c.member("j1").kill()
			handOver([]string{"g3"}, "j3")(c)
		},
	}, {
		// A JVM leads, and it takes over what is planted in its own fire: see repeats.
		name: "nodes of members long dead are there", setting: long, begin: jvms, leads: jvm, allowed: count{missed: 8, doubled: 4, unrecovered: 2},
		then: func(c *cluster) {
			handOver([]string{"g1", "g2"})(c)
			c.ticks(2, 3500*ms)
			c.debris()
			handOver([]string{"g3"}, "j1", "j2", "j3")(c)
		},
	}, {
		// No Go instance has seen what the JVM members ran: nobody knows for which tick that was.
		name: "all JVMs are killed before", setting: long, begin: jvms, leads: jvm, allowed: count{wrong: 8},
		then: func(c *cluster) {
			c.ticks(3, 500*ms)
			for _, p := range c.alive() {
				p.kill()
			}
			c.ticks(4, 3500*ms)
			c.debris()
			c.several("g1", "g2", "g3")
		},
	}})
}

// debris leaves the nodes of members that are long dead in the tree.
func (c *cluster) debris() {
	c.t.Helper()
	const dead = "10.9.9.9@-@99"
	c.put(tree.Running(1), dead)
	c.ledger.plant(1)
	c.put(tree.Failovering(2), dead)
	c.ledger.plant(2)
	c.put(tree.FailoverItem(3), "")
	c.ledger.plant(3)
	c.put(tree.Misfire(4), "")
	c.put(tree.Server("10.9.9.9"), "ENABLED")
	c.put(tree.Processing(), "")
	c.put(tree.Necessary(), "")
}

func TestMigrationToJVM(t *testing.T) {
	members := starting("g1", "g2", "g3")
	long := setting{work: time.Second, longest: 2 * time.Second, failover: true}
	play(t, "Go → JVM", []scenario{{
		name: "one by one", begin: members, leads: golang, then: handOver([]string{"j1", "j2", "j3"}, "g1", "g2", "g3"),
	}, {
		name: "one by one, on the same hosts", setting: setting{hosts: 3}, begin: members, leads: golang, then: handOver([]string{"j1", "j2", "j3"}, "g1", "g2", "g3"),
	}, {
		name: "one by one, the leader last", begin: members, leads: golang, then: handOver([]string{"j1", "j2", "j3"}, "g3", "g2", "g1"),
	}, {
		name: "one by one, items of a second and more", setting: long, begin: members, leads: golang, then: handOver([]string{"j1", "j2", "j3"}, "g1", "g2", "g3"),
	}, {
		name: "a Go instance is killed", setting: long, begin: members, leads: golang, allowed: repeats,
		then: func(c *cluster) {
			handOver([]string{"j1", "j2"}, "g2")(c)
			c.ticks(3, 500*ms)
			c.member("g3").kill()
			handOver([]string{"j3"}, "g1")(c)
		},
	}})
}

func TestThereAndBackAgain(t *testing.T) {
	around := func(c *cluster) {
		handOver([]string{"g1", "g2"}, "j1", "j2")(c)
		handOver([]string{"j3", "j4"}, "g1", "g2")(c)
		handOver([]string{"g3", "g4"}, "j3", "j4")(c)
	}
	play(t, "JVM → Go → JVM → Go", []scenario{
		{name: "short items", begin: starting("j1", "j2"), leads: jvm, then: around},
		{name: "items of a second and more", setting: setting{work: time.Second, longest: 2 * time.Second, failover: true}, begin: starting("j1", "j2"), leads: jvm, then: around},
	})
}
