package jobtree

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// State is a job's tree as a snapshot shows it. It shares memory with the snapshot, and
// with the state that was read before. Nobody may change it, but for [State.Follow].
type State struct {
	// Exists is whether the job has any node.
	Exists bool
	// Implementation is the value of the job's node.
	Implementation string
	// Config holds the configuration document; nil if there is none.
	Config *coord.Node

	// Servers are by address. They and Sessions are pointers, because a map has room for
	// eight values from the first one on, and most jobs have one instance.
	Servers map[string]*Server
	// Instances, Triggers, Sessions, and the nodes in which instances show their faults,
	// are by instance id. [State.Session] takes any id.
	Instances map[string]Instance
	Triggers  map[string]Trigger
	Sessions  map[string]*Session
	Faults    map[string]coord.Node
	// Schedule says since when the schedule is in force; nil if that is unknown.
	Schedule *Schedule

	// Leader names the leader; nil if there is none.
	Leader *Mark
	// Necessary and Processing are whether there is a node of that name in leader/sharding.
	Necessary, Processing bool
	// IsHolding is whether Necessary has the value [Holding]: nobody asks to reshard.
	IsHolding bool
	// FailoverItems are the items that wait to be taken over, ascending.
	FailoverItems []FailoverItem

	// Requests are those to run items beside the schedule, in the order of their ids.
	// RequestCount says how many there have been; nil if there were none.
	Requests     []*Request
	RequestCount *coord.Node

	// Guarantees are the ticks that once-listeners are being told of, ascending. Guaranteed is
	// the last tick of which they were told; nil if there is none.
	Guarantees []*Guarantee
	Guaranteed *Fired

	// Kills are the runs that are to end, by item.
	Kills map[int]*Kill

	// Pins say which instances items belong to, by item.
	Pins map[int]*Pin

	// Debris are nodes of external writers that are in the way of ours, at most 100. A node is not
	// listed if one above it is.
	Debris []Debris
	// UnusableNodes is how many nodes were ignored because coord does not allow their path,
	// so no request could name them. Unusable is the path of the first of them, shortened.
	UnusableNodes int
	Unusable      string

	// Items is by item number, up to the highest one in the tree, so it may be shorter or
	// longer than the configured total. [State.Item] takes any number.
	Items []Item
}

// Item is one item in the tree. A field is nil if its node is not there.
type Item struct {
	// Exists is whether the item has any node.
	Exists bool
	// Misfire and Disabled are whether there is a node of that name.
	Misfire, Disabled bool
	// Owner names the instance that the item is assigned to.
	Owner *Mark
	// Running names the instance that runs the item.
	Running *Mark
	// Failover and Failovering name the instance that took the item over. Only Failovering
	// stays when that instance ends.
	Failover, Failovering *Mark
	// Fired has the last tick begun.
	Fired *Fired
	// Completed says how the last execution ended.
	Completed *Completion
	// Original names the execution that is run again, or was.
	Original *Original
}

// FailoverItem is an item that waits to be taken over.
type FailoverItem struct {
	coord.Node
	Item int
	// Tick is the tick of the run that was cut short; zero if it is unknown, because JVM
	// members do not write it.
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

// Item returns an item; the zero Item if it is not in the tree.
func (s *State) Item(item int) Item {
	if item < 0 || item >= len(s.Items) {
		return Item{}
	}
	return s.Items[item]
}

// Session returns what the session of an instance says; the zero Session if it has none.
func (s *State) Session(id string) Session {
	if session := s.Sessions[id]; session != nil {
		return *session
	}
	return Session{}
}

// Request returns the request with an id; nil if there is none.
func (s *State) Request(id string) *Request {
	at, isThere := slices.BinarySearchFunc(s.Requests, id, func(r *Request, id string) int { return strings.Compare(r.ID, id) })
	if !isThere {
		return nil
	}
	return s.Requests[at]
}

// ServerEnabled reports whether instances at the address may have items. A server without
// a node is enabled.
func (s *State) ServerEnabled(ip string) bool {
	server, ok := s.Servers[ip]
	return !ok || server.Enabled
}

// Read decodes the job's part of a snapshot in one pass.
func Read(snapshot coord.Snapshot, job Job) *State { return Reread(snapshot, job, nil) }

// Reread is [Read] for a caller that has read the job's tree before. It reuses what has not
// changed since, because an instance reads the tree after every change, and most changes
// are of a few nodes. before may be nil.
func Reread(snapshot coord.Snapshot, job Job, before *State) *State {
	if before == nil {
		before = &State{}
	}
	r := Reader{job, reader{State: &State{}, before: before}}
	for n := range snapshot.All(job.Root()) {
		r.Add(n)
	}
	return r.State()
}

// Reader is [Read] for a caller that has one node after the other, and not all of a tree at once.
type Reader struct {
	job Job
	in  reader
}

// NewReader returns a reader of a job's tree.
func NewReader(job Job) *Reader {
	return &Reader{job, reader{State: &State{}, before: &State{}}}
}

// Add takes in one node at or below the job's root. Parents come before what is below them.
func (r *Reader) Add(n coord.Node) {
	r.in.Exists = true
	if len(n.Path) == len(r.job) {
		r.in.Implementation = string(n.Value)
		return
	}
	r.in.read(n.Path[len(r.job)+1:], n)
}

// State returns what the nodes say. No node may be added after that.
func (r *Reader) State() *State {
	slices.SortFunc(r.in.FailoverItems, func(a, b FailoverItem) int { return a.Item - b.Item })
	return r.in.State
}

// reader fills a state. It has what it needs to allocate little.
type reader struct {
	*State
	before      *State // never nil
	marks       slab[Mark]
	ticks       slab[Fired]
	completions slab[Completion]
	// The list of requests is a copy, and so are these requests: followRequest.
	ownsRequests bool
	fresh        map[*Request]bool
	// The list of guarantees is a copy: followGuarantee.
	ownsGuarantees bool
	// id and tick were decoded last. Many nodes in a row have the same.
	id   string
	tick Fired
}

// read decodes one node. path is its path below the job's root.
func (r *reader) read(path string, n coord.Node) {
	room, name, _ := strings.Cut(path, "/")
	switch room {
	case sharding:
		r.readItem(name, n)
	case leader:
		r.readLeader(path, n)
	case servers, instances, sessions, faults, trigger:
		r.readMember(room, name, n)
	case kill, pins:
		r.readOfItem(room, name, n)
	case requests:
		r.readRequest(name, n)
	case guarantee:
		r.readGuarantee(name, n)
	case config:
		if name == "" {
			document := n // not &n: every node would go to the heap
			r.Config = &document
		}
	case schedule:
		if name == "" {
			r.Schedule = r.schedule(n)
		}
	}
}

// readLeader decodes a node below leader.
func (r *reader) readLeader(path string, n coord.Node) {
	switch path {
	case leaderInstance:
		r.Leader = r.mark(n, r.before.Leader)
		return
	case necessary:
		r.Necessary, r.IsHolding = true, string(n.Value) == Holding
		return
	case processing:
		r.Processing = true
		return
	}
	if isBelowChildless(path) {
		r.addDebris(n)
		return
	}
	if name, waits := strings.CutPrefix(path, failoverItems+"/"); waits {
		if i, ok := ParseItem(name); ok {
			r.FailoverItems = append(r.FailoverItems, decodeFailoverItem(n, i))
		}
	}
}

func decodeFailoverItem(n coord.Node, item int) FailoverItem {
	tick, _ := DecodeFired(n.Value) // a value that cannot be read is unknown, too
	return FailoverItem{Node: n, Item: item, Tick: tick}
}

// readMember decodes a node that is named after an instance, or after a server.
func (r *reader) readMember(room, name string, n coord.Node) {
	switch {
	case name == "":
	case strings.Contains(name, "/"):
		if room != servers { // which is removed with all that is below it
			r.addDebris(n)
		}
	case coord.ValidatePath(n.Path) != nil:
		// Whoever has write access to the store can give a node any name.
		r.addUnusable(n.Path)
	case room == servers:
		put(&r.Servers, name, decodeServer(name, n))
	case room == instances:
		put(&r.Instances, name, r.instance(name, n))
	case room == sessions:
		put(&r.Sessions, name, r.session(name, n))
	case room == faults:
		put(&r.Faults, name, n)
	case room == trigger:
		put(&r.Triggers, name, r.trigger(name, n))
	}
}

// readOfItem decodes a node that is named after an item, and is not below sharding.
func (r *reader) readOfItem(room, name string, n coord.Node) {
	number, below, _ := strings.Cut(name, "/")
	i, ok := ParseItem(number)
	switch {
	case !ok:
	case below != "":
		r.addDebris(n)
	case room == pins:
		put(&r.Pins, i, r.pin(i, n))
	default:
		put(&r.Kills, i, r.kill(i, n))
	}
}

// readRequest decodes a node of requests. A request comes before its progress, because of
// their paths.
func (r *reader) readRequest(name string, n coord.Node) {
	id, below, _ := strings.Cut(name, "/")
	if id == "" {
		count := n // not &n: every node would go to the heap
		r.RequestCount = &count
		return
	}
	if coord.ValidatePath(n.Path) != nil {
		r.addUnusable(n.Path)
		return
	}
	before := r.before.Request(id)
	if below == "" {
		request := &Request{Node: n, ID: id}
		if before != nil && same(before.Node, n) {
			request.RequestDocument, request.Err = before.RequestDocument, before.Err
		} else {
			request = decodeRequest(id, n)
		}
		r.Requests = append(r.Requests, request)
		return
	}
	// The progress of an item that the request is not for goes with the request.
	if i, ok := ParseItem(below); ok && len(r.Requests) > 0 && r.Requests[len(r.Requests)-1].ID == id {
		r.Requests[len(r.Requests)-1].setProgress(i, decodedProgress(before, i, n))
	}
}

// decodedProgress decodes a progress, unless that was done before.
func decodedProgress(before *Request, i int, n coord.Node) *Progress {
	if before != nil {
		if p := before.Progress(i); p != nil && same(p.Node, n) {
			return p
		}
	}
	return decodeProgress(n)
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
	r.readLeaf(item, before, leaf, n)
}

// readLeaf decodes a node of an item.
func (r *reader) readLeaf(item *Item, before Item, leaf string, n coord.Node) {
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
		item.Completed = r.completed(n, before.Completed)
	case original:
		item.Original = &Original{n}
	case misfire:
		item.Misfire = true
	case disabled:
		item.Disabled = true
	}
}

// The methods from here on return what was decoded before if the node has not changed.

func (r *reader) schedule(n coord.Node) *Schedule {
	if before := r.before.Schedule; before != nil && same(before.Node, n) {
		return before
	}
	return decodeSchedule(n)
}

func (r *reader) instance(id string, n coord.Node) Instance {
	if before, ok := r.before.Instances[id]; ok && same(before.Node, n) {
		return before
	}
	return decodeInstance(id, n)
}

func (r *reader) session(id string, n coord.Node) *Session {
	if before, ok := r.before.Sessions[id]; ok && same(before.Node, n) {
		return before
	}
	return decodeSession(n)
}

func (r *reader) trigger(id string, n coord.Node) Trigger {
	if before, ok := r.before.Triggers[id]; ok && same(before.Node, n) {
		return before
	}
	return decodeTrigger(id, n)
}

func (r *reader) kill(i int, n coord.Node) *Kill {
	if before, ok := r.before.Kills[i]; ok && same(before.Node, n) {
		return before
	}
	return decodeKill(n)
}

func (r *reader) pin(i int, n coord.Node) *Pin {
	if before, ok := r.before.Pins[i]; ok && same(before.Node, n) {
		return before
	}
	return decodePin(n)
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

func (r *reader) completed(n coord.Node, before *Completion) *Completion {
	if before != nil && same(before.Node, n) {
		return before
	}
	return r.completions.add(Completion{n})
}

// same reports whether two nodes at one path are the same node, unchanged. It compares the
// values, too: a store that was restored from a backup uses its revisions again.
func same(a, b coord.Node) bool {
	return a.Modified == b.Modified && a.Created == b.Created && a.Version == b.Version && a.Owner == b.Owner && bytes.Equal(a.Value, b.Value)
}

func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
}

// slab allocates values in blocks, which is cheaper than one by one. A block is freed only
// when nobody has a pointer to any of its values, so blocks are small.
type slab[T any] struct {
	free []T
	size int
}

func (s *slab[T]) add(value T) *T {
	if len(s.free) == 0 {
		s.size = min(max(2*s.size, 1), 64)
		s.free = make([]T, s.size)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	*p = value
	return p
}
