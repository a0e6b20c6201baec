package jobtree

import (
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// kind is a kind of nodes. The table of kinds says what nodes are for, which have no children, and how a
// [State] takes them in.
type kind struct {
	// pattern is the path. A name in braces stands for one part of it: {item} and {tick} for what can be one,
	// others for anything.
	pattern string
	meaning string
	effect  effect
	// apply takes in a node that was written or removed; nil if a state does not have it. A node that was
	// removed comes as it was.
	apply func(a *applier, p place, n coord.Node, isThere bool)
}

// effect is what a change of a node means to those who follow the state.
type effect int

const (
	other     effect = iota // anything may be different now
	childless               // the same, and what is below the node is debris
	aside                   // nothing: a state does not have it
	// These are nodes of an item. What is below them is debris.
	ofItem   // anything may be different now
	ofOwner  // the item has another owner
	ofRecord // an execution has begun or ended
)

// place is what stands for the names in braces.
type place struct {
	name string
	item int
	tick time.Time
}

// kinds returns all kinds of nodes in a namespace.
func kinds() []kind {
	const j = "{job}/"
	const i = j + sharding + "/{item}/"
	const g = j + guarantee
	return []kind{
		{"{job}", "a job; its value says what runs it", other, func(a *applier, _ place, n coord.Node, isThere bool) {
			if a.Implementation = ""; isThere {
				a.Implementation = string(n.Value)
			}
		}},
		{j + config, "its configuration", other, func(a *applier, _ place, n coord.Node, isThere bool) { a.Config = nodeIf(n, isThere) }},
		{j + schedule, "since when the schedule is in force, its calendars, and pauses", other, func(a *applier, _ place, n coord.Node, isThere bool) {
			if a.Schedule = nil; isThere {
				a.Schedule = decodeSchedule(n)
			}
		}},
		{j + disabled, "an operator has disabled the job", childless, func(a *applier, _ place, _ coord.Node, isThere bool) { a.IsDisabled = isThere }},
		{j + servers, "hosts that have run the job", other, nil},
		{j + servers + "/{server}", "DISABLED: the instances of this host get no items", other, func(a *applier, p place, n coord.Node, isThere bool) {
			put(&a.Servers, p.name, decodeServer(p.name, n), isThere)
		}},
		{j + instances, "live instances", other, nil},
		{j + instances + "/{instance}", "a live instance; who removes it ends the instance", childless, func(a *applier, p place, n coord.Node, isThere bool) {
			put(&a.Instances, p.name, decodeInstance(p.name, n), isThere)
		}},
		{j + sessions, "sessions of instances", other, nil},
		{j + sessions + "/{instance}", "the session of an instance, and what its program is like", childless, func(a *applier, p place, n coord.Node, isThere bool) {
			put(&a.Sessions, p.name, decodeSession(n), isThere)
		}},
		{j + faults, "what keeps the job from running as it should", other, nil},
		{j + faults + "/{instance}", "the faults that an instance shows", childless, func(a *applier, p place, n coord.Node, isThere bool) {
			put(&a.Faults, p.name, n, isThere)
		}},
		{j + trigger, "ElasticJob's requests to run now", other, nil},
		{j + trigger + "/{instance}", "asks an instance to run its items now, as ElasticJob does", childless, func(a *applier, p place, n coord.Node, isThere bool) {
			put(&a.Triggers, p.name, Trigger{n, p.name}, isThere)
		}},
		{j + requests, "requests for runs; the value counts them", other, func(a *applier, _ place, n coord.Node, isThere bool) { a.RequestCount = nodeIf(n, isThere) }},
		{j + requests + "/{request}", "a trigger, a retry or a backfill", other, (*applier).request},
		{j + requests + "/{request}/{item}", "how far an item has come with it", other, (*applier).progress},

		{j + sharding, "the items", other, nil},
		{j + sharding + "/{item}", "an item", ofItem, nil},
		{i + instance, "its owner", ofOwner, func(a *applier, p place, n coord.Node, isThere bool) { a.Items[p.item].Owner = a.mark(n, isThere) }},
		{i + running, "the instance that runs it now", ofRecord, func(a *applier, p place, n coord.Node, isThere bool) { a.Items[p.item].Running = a.mark(n, isThere) }},
		{i + fired, "the last tick that was begun", ofRecord, func(a *applier, p place, n coord.Node, isThere bool) { a.Items[p.item].Fired = a.fired(n, isThere) }},
		{i + completed, "how the last execution ended", ofRecord, func(a *applier, p place, n coord.Node, isThere bool) {
			a.Items[p.item].Completed = a.completed(n, isThere)
		}},
		{i + original, "the execution that was cut short first", ofRecord, func(a *applier, p place, n coord.Node, isThere bool) {
			if a.Items[p.item].Original = nil; isThere {
				a.Items[p.item].Original = &Original{n}
			}
		}},
		{i + misfire, "a tick came while it ran, and is to be made up", ofRecord, func(a *applier, p place, _ coord.Node, isThere bool) { a.Items[p.item].Misfire = isThere }},
		{i + disabled, "an operator has disabled it", ofItem, func(a *applier, p place, _ coord.Node, isThere bool) { a.Items[p.item].Disabled = isThere }},
		{i + failover, "the instance that has taken it over", ofItem, func(a *applier, p place, n coord.Node, isThere bool) { a.Items[p.item].Failover = a.mark(n, isThere) }},
		{i + failovering, "the same, also when that instance has ended", ofItem, func(a *applier, p place, n coord.Node, isThere bool) {
			a.Items[p.item].Failovering = a.mark(n, isThere)
		}},
		{i + "{unknown}", "", ofItem, nil},
		{j + cursor, "how far handlers have come", aside, nil},
		{j + cursor + "/{item}", "how far the handler of an item has come", aside, nil},
		{j + kill, "runs that are to end", other, nil},
		{j + kill + "/{item}", "the run of an item is to end", childless, func(a *applier, p place, n coord.Node, isThere bool) {
			put(&a.Kills, p.item, decodeKill(n), isThere)
		}},
		{j + pins, "items that belong to certain instances", other, nil},
		{j + pins + "/{item}", "the instances that an item belongs to", childless, func(a *applier, p place, n coord.Node, isThere bool) {
			put(&a.Pins, p.item, decodePin(n), isThere)
		}},

		{j + leader, "the leader, and what it does", other, nil},
		{j + leader + "/election", "how the leader is elected", other, nil},
		{j + leaderLatch, "where JVM members wait to become the leader", other, nil},
		{j + leaderLatch + "/{candidate}", "a JVM member that waits", other, nil},
		{j + leaderInstance, "the leader", childless, func(a *applier, _ place, n coord.Node, isThere bool) { a.Leader = a.mark(n, isThere) }},
		{j + leader + "/" + sharding, "how items are assigned", other, nil},
		{j + necessary, "the items are to be assigned again", childless, func(a *applier, _ place, n coord.Node, isThere bool) {
			a.Necessary, a.IsHolding = isThere, isThere && string(n.Value) == Holding
		}},
		{j + processing, "a JVM leader assigns the items", childless, func(a *applier, _ place, _ coord.Node, isThere bool) { a.Processing = isThere }},
		{j + leader + "/" + failover, "how items are run again", other, nil},
		{j + failoverItems, "items that wait to be run again after a crash", other, nil},
		{j + failoverItems + "/{item}", "an item that waits to be run again", childless, (*applier).failoverItem},
		{j + failoverLatch, "where JVM members wait to take items over", other, nil},
		{j + failoverLatch + "/{candidate}", "a JVM member that waits", other, nil},

		{g, "ticks that once-listeners are told of; its value is the last one", other, func(a *applier, _ place, n coord.Node, isThere bool) { a.Guaranteed = a.fired(n, isThere) }},
		{g + "/{tick}", "a tick that once-listeners are told of", other, (*applier).guarantee},
		{g + "/{tick}/" + guaranteeOpen, "handlers of the tick may begin", other, (*applier).guaranteeOpen},
		{g + "/{tick}/{item}", "how an item of the tick has ended", other, (*applier).guaranteeItem},
		{g + "/started", "items that have begun, of JVM members", other, nil},
		{g + "/started/{item}", "an item that has begun, of JVM members", other, nil},
		{g + "/completed", "items that have ended, of JVM members", other, nil},
		{g + "/completed/{item}", "an item that has ended, of JVM members", other, nil},
		{g + "/started-latch", "where JVM members wait to be the last that began", other, nil},
		{g + "/started-latch/{candidate}", "a JVM member that waits", other, nil},
		{g + "/completed-latch", "where JVM members wait to be the last that ended", other, nil},
		{g + "/completed-latch/{candidate}", "a JVM member that waits", other, nil},
		{j + "systemTime", "the store's clock, of JVM members", other, nil},
		{j + "systemTime/current", "JVM members write it to read the store's clock", other, nil},

		{ownNodes, "what the namespace has beside its jobs", other, nil},
		{Nodes, "processes", other, nil},
		{Nodes + "/{process}", "a process, and what it has", other, nil},
		{Calendars, "calendars", other, nil},
		{Calendars + "/{calendar}", "a calendar that jobs may name", other, nil},
		{Removals, "removed jobs", other, nil},
		{Removals + "/{job}", "who has removed the job; no program sets it up again", other, nil},
		{AppliedJobs, "jobs that belong to sets of files", other, nil},
		{AppliedJobs + "/{job}", "the set of files that the job belongs to", other, nil},
		{Audits, "what operators have changed", other, nil},
		{Audits + "/{change}", "a change by an operator", other, nil},
		{coord.ClockPath, "processes write it to read the store's clock", other, nil},
		{Migrations, "the lock of migrations from or to another namespace", other, nil},
		{Migrations + "/{job}", "a job on its way from or to another namespace", other, nil},
	}
}

// kindTree has the kinds by the parts of their paths.
type kindTree struct {
	kind
	named           map[string]*kindTree
	item, tick, any *kindTree // of names in braces
}

// namespaceKinds has all kinds, and jobKinds those at and below a job's root.
var (
	namespaceKinds = newKindTree(kinds())
	jobKinds       = namespaceKinds.any
)

func newKindTree(kinds []kind) *kindTree {
	root := &kindTree{}
	for _, k := range kinds {
		t := root
		for name := range strings.SplitSeq(k.pattern, "/") {
			t = t.child(name)
		}
		t.kind = k
	}
	return root
}

func (t *kindTree) child(name string) *kindTree {
	var next **kindTree
	switch {
	case name == "{item}":
		next = &t.item
	case name == "{tick}":
		next = &t.tick
	case name[0] == '{':
		next = &t.any
	case t.named[name] != nil:
		return t.named[name]
	default:
		child := &kindTree{}
		put(&t.named, name, child, true)
		return child
	}
	if *next == nil {
		*next = &kindTree{}
	}
	return *next
}

// find returns the kind of the node at a path below that of t; nil if there is none. isBelow is whether the
// node is below one of that kind, which has no children.
func (t *kindTree) find(path string) (k *kind, p place, isBelow bool) {
	for path != "" {
		name, rest, _ := strings.Cut(path, "/")
		next := t.named[name]
		if next == nil {
			next = t.ofName(name, &p)
		}
		if next == nil {
			if t.effect != childless && t.effect < ofItem {
				return nil, p, false
			}
			return &t.kind, p, true
		}
		t, path = next, rest
	}
	return &t.kind, p, false
}

// ofName returns the kinds below a name that stands for one in braces.
func (t *kindTree) ofName(name string, p *place) *kindTree {
	if t.item != nil {
		if i, ok := ParseItem(name); ok {
			p.item = i
			return t.item
		}
	}
	if t.tick != nil {
		if at, err := parseTime(name); err == nil && !at.IsZero() && string(EncodeFired(at)) == name {
			p.tick = at
			return t.tick
		}
	}
	if name != "" && t.any != nil {
		p.name = name
		return t.any
	}
	return nil
}

// Meaning returns what a node is for; ok is false for one that nobody knows: it is junk, or that of a
// newer version.
func Meaning(path string) (text string, ok bool) {
	job, _, _ := strings.Cut(path, "/")
	if job != ownNodes && !IsName(job) {
		return "", false
	}
	k, _, isBelow := namespaceKinds.find(path)
	if k == nil || isBelow || strings.HasSuffix(path, "/") {
		return "", false
	}
	return k.meaning, k.meaning != ""
}

// Knows reports whether a path, which is at or below the job's root, is in one of the rooms of a
// job's tree. Other nodes are external writers'.
func (j Job) Knows(path string) bool {
	if path == j.Root() {
		return true
	}
	room, _, _ := strings.Cut(path[len(j)+1:], "/")
	return jobKinds.named[room] != nil
}
