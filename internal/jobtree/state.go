package jobtree

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// State is what a snapshot says about a job. It shares memory with the snapshot, and
// with the state that was read before; it is not changed after it was made.
type State struct {
	// Exists is whether there is anything of the job at all.
	Exists bool
	// Implementation is the value of the job's node.
	Implementation string
	// Config holds the configuration document; nil if there is none.
	Config *coord.Node

	// Servers is by address, Instances and Triggers are by instance id.
	Servers   map[string]Server
	Instances map[string]Instance
	Triggers  map[string]Trigger
	// Sessions is by the id of the instances whose session lives.
	Sessions map[string]Session
	// Faults has the nodes in which instances tell of their faults, by their ids.
	Faults map[string]coord.Node
	// Schedule says since when the schedule is in force; nil if that is unknown.
	Schedule *Schedule

	// Leader names the leader; nil if there is none.
	Leader *Mark
	// Necessary and Processing are the flags of that name below leader/sharding.
	Necessary, Processing bool
	// FailoverItems are the items that wait to be taken over, ascending.
	FailoverItems []FailoverItem

	// Debris are nodes of a stranger that are in the way of ours, topmost ones only.
	Debris []Debris
	// UnusableNodes is how many nodes have a path that no request can name, where only we
	// write, and Unusable the first of them, shortened. They are not looked at.
	UnusableNodes int
	Unusable      string

	// Items is by item number, up to the highest one in the tree, so it may be
	// shorter or longer than the configured total. [State.Item] does not mind.
	Items []Item
}

// Item is what is known about one item. A field that is nil stands for a node that is
// not there.
type Item struct {
	// Exists is whether there is anything of the item at all.
	Exists bool
	// Misfire and Disabled are the flags of that name.
	Misfire, Disabled bool
	// Owner names the instance that the item is assigned to.
	Owner *Mark
	// Running names the instance that runs the item.
	Running *Mark
	// Failover and Failovering name the instance that took the item over. The first
	// ends with that instance.
	Failover, Failovering *Mark
	// Fired is the last tick begun.
	Fired *Fired
	// Completed says how the last execution ended.
	Completed *Completion
}

// FailoverItem is an item that waits to be taken over.
type FailoverItem struct {
	coord.Node
	Item int
	// Tick is that of the run that was cut short; zero if it is unknown, as in what
	// JVM members write.
	Tick time.Time
}

// Mark is a node whose value is an instance id.
type Mark struct {
	coord.Node
	// ID is the instance. ElasticJob before 3.0.2 leaves it empty in running.
	ID string
}

// Is reports whether the mark is there and names the instance.
func (m *Mark) Is(id string) bool { return m != nil && m.ID == id }

// Item returns what is known about an item; the zero Item if nothing is.
func (s *State) Item(item int) Item {
	if item < 0 || item >= len(s.Items) {
		return Item{}
	}
	return s.Items[item]
}

// ServerEnabled reports whether instances at the address may have items. A server
// that nothing is said about is enabled.
func (s *State) ServerEnabled(ip string) bool {
	server, ok := s.Servers[ip]
	return !ok || server.Enabled
}

// Read decodes the job's part of a snapshot in one pass.
func Read(snapshot coord.Snapshot, job Job) *State { return Reread(snapshot, job, nil) }

// Reread is [Read] for one who has read the job's tree before, and takes over from then
// what has not changed: an instance looks at every change of the tree, and most of them
// are of a few nodes.
func Reread(snapshot coord.Snapshot, job Job, before *State) *State {
	if before == nil {
		before = &State{}
	}
	r := reader{State: &State{}, before: before}
	for n := range snapshot.All(job.Root()) {
		r.Exists = true
		if len(n.Path) == len(job) {
			r.Implementation = string(n.Value)
			continue
		}
		r.read(n.Path[len(job)+1:], n)
	}
	slices.SortFunc(r.FailoverItems, func(a, b FailoverItem) int { return a.Item - b.Item })
	return r.State
}

// reader is a state in the making, with what saves allocations on the way.
type reader struct {
	*State
	before *State
	marks  slab[Mark]
	ticks  slab[Fired]
	ends   slab[Completion]
	// The id and tick that were decoded last: many nodes in a row have the same.
	id   string
	tick Fired
}

// read decodes one node, whose path below the job's root is given too.
func (r *reader) read(path string, n coord.Node) {
	room, name, _ := strings.Cut(path, "/")
	if room == sharding {
		r.readItem(name, n)
		return
	}
	switch path {
	case config:
		document := n // not &n: every node would go to the heap
		r.Config = &document
		return
	case leaderInstance:
		r.Leader = r.mark(n, r.before.Leader)
		return
	case necessary:
		r.Necessary = true
		return
	case processing:
		r.Processing = true
		return
	case schedule:
		if r.Schedule = r.before.Schedule; r.Schedule == nil || !same(r.Schedule.Node, n) {
			r.Schedule = decodeSchedule(n)
		}
		return
	}
	if item, ok := strings.CutPrefix(path, failoverItems+"/"); ok && !strings.Contains(item, "/") {
		if i, ok := ParseItem(item); ok {
			tick, _ := DecodeFired(n.Value) // what cannot be read is as good as unknown
			r.FailoverItems = append(r.FailoverItems, FailoverItem{Node: n, Item: i, Tick: tick})
		}
		return
	}
	if isDebris(path) {
		r.addDebris(n)
		return
	}
	if name == "" || strings.Contains(name, "/") {
		return
	}
	switch room {
	case servers, instances, sessions, faults, trigger:
		// Whoever has write access to the store can give a node any name.
		if coord.ValidatePath(n.Path) != nil {
			r.addUnusable(n.Path)
			return
		}
	}
	switch room {
	case servers:
		put(&r.Servers, name, decodeServer(name, n))
	case instances:
		in, ok := r.before.Instances[name]
		if !ok || !same(in.Node, n) {
			in = decodeInstance(name, n)
		}
		put(&r.Instances, name, in)
	case sessions:
		session, ok := r.before.Sessions[name]
		if !ok || !same(session.Node, n) {
			session = decodeSession(n)
		}
		put(&r.Sessions, name, session)
	case faults:
		put(&r.Faults, name, n)
	case trigger:
		t, ok := r.before.Triggers[name]
		if !ok || !same(t.Node, n) {
			t = Trigger{Node: n, Instance: name}
			t.Request, t.Err = DecodeRequest(n.Value)
		}
		put(&r.Triggers, name, t)
	}
}

// readItem decodes a node below sharding.
func (r *reader) readItem(path string, n coord.Node) {
	number, leaf, _ := strings.Cut(path, "/")
	i, ok := ParseItem(number)
	if !ok {
		return
	}
	if missing := i + 1 - len(r.Items); missing > 0 {
		r.Items = slices.Grow(r.Items, max(missing, len(r.before.Items)-len(r.Items)))[:i+1]
	}
	item, before := &r.Items[i], r.before.Item(i)
	item.Exists = true
	if strings.Contains(leaf, "/") {
		r.addDebris(n)
		return
	}
	switch leaf {
	case instance:
		item.Owner = r.mark(n, before.Owner)
	case running:
		item.Running = r.mark(n, before.Running)
	case failover:
		item.Failover = r.mark(n, before.Failover)
	case failovering:
		item.Failovering = r.mark(n, before.Failovering)
	case fired:
		item.Fired = r.fired(n, before.Fired)
	case completed:
		if item.Completed = before.Completed; item.Completed == nil || !same(item.Completed.Node, n) {
			item.Completed = r.ends.add(Completion{n})
		}
	case misfire:
		item.Misfire = true
	case disabled:
		item.Disabled = true
	}
}

func (r *reader) mark(n coord.Node, before *Mark) *Mark {
	if before != nil && same(before.Node, n) {
		return before
	}
	if string(n.Value) != r.id {
		if in, ok := r.Instances[string(n.Value)]; ok {
			r.id = in.ID
		} else {
			r.id = string(n.Value)
		}
	}
	return r.marks.add(Mark{Node: n, ID: r.id})
}

func (r *reader) fired(n coord.Node, before *Fired) *Fired {
	if before != nil && same(before.Node, n) {
		return before
	}
	if !bytes.Equal(n.Value, r.tick.Value) {
		r.tick.Tick, r.tick.Run, r.tick.Err = decodeFired(n.Value)
	}
	r.tick.Node = n
	return r.ticks.add(r.tick)
}

// same compares two nodes at one path. Values are compared too, because a store that was
// restored from a backup counts its revisions again.
func same(a, b coord.Node) bool {
	return a.Modified == b.Modified && a.Created == b.Created && a.Version == b.Version && a.Owner == b.Owner && bytes.Equal(a.Value, b.Value)
}

func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = make(map[string]V)
	}
	(*m)[key] = value
}

// slab allocates values in growing blocks: pointers to them cost little, and stay
// good. A block lives as long as one of its values, so blocks are not large.
type slab[T any] struct {
	free []T
	size int
}

func (s *slab[T]) add(value T) *T {
	if len(s.free) == 0 {
		s.size = min(max(2*s.size, 4), 64)
		s.free = make([]T, s.size)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	*p = value
	return p
}
