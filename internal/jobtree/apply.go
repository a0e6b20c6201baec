package jobtree

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Read returns what the job's part of a snapshot says.
func Read(snapshot coord.Snapshot, job Job) *State {
	r := applier{State: &State{}, job: job}
	for n := range snapshot.All(job.Root()) {
		r.apply(n, true)
	}
	r.finish()
	r.LeftOut = leftOut(snapshot, job)
	return r.State
}

// Reader is [Read], within [SharedBounds], for a caller that has one node after the other, and not all of a tree at once.
type Reader struct {
	applier
	held  int            // bytes of values
	nodes map[string]int // by their group
}

// NewReader returns a reader of a job's tree.
func NewReader(job Job) *Reader { return &Reader{applier: applier{State: &State{}, job: job}} }

// Add takes in one node at or below the job's root. Parents come before what is below them.
func (r *Reader) Add(n coord.Node) {
	if group, most := Group(n.Path); group != "" {
		if r.nodes == nil {
			r.nodes = map[string]int{}
		}
		if r.nodes[group]++; r.nodes[group] > most {
			put(&r.LeftOut, group, r.nodes[group]-most, true)
			return
		}
	}
	if size := len(n.Value); size > coord.AlwaysHeld && size <= MaxSize(n.Path) {
		if r.held += size; r.held > maxHeld {
			n.Omitted, n.Value = size, nil
		}
	}
	r.apply(n, true)
}

// State returns what the nodes say. No node may be added after that.
func (r *Reader) State() *State {
	r.finish()
	return r.applier.State
}

// Changes is what [State.Follow] has found.
type Changes struct {
	// Items are the items of which any node has changed.
	Items []int
	// Owners is whether an owner has changed, or an item is new.
	Owners bool
	// Others is whether anything but owners and the nodes that executions write has changed, such as an
	// instance or the configuration.
	Others bool
}

// Follow brings the state up to date with a newer snapshot, and returns what has changed. before is the
// snapshot that it shows now. It takes time in proportion to what has changed, not to the size of the tree.
func (s *State) Follow(snapshot, before coord.Snapshot, job Job) Changes {
	existed := s.Exists
	a := applier{State: s, job: job, snapshot: snapshot, isFollowing: true}
	for n, isThere := range snapshot.Diff(before) {
		a.apply(n, isThere)
	}
	a.finish()
	if left := leftOut(snapshot, job); !maps.Equal(left, s.LeftOut) {
		s.LeftOut, a.changes.Others = left, true
	}
	a.changes.Others = a.changes.Others || s.Exists != existed
	return a.changes
}

// applier changes a state by one node after the other. It has what it needs to allocate little.
type applier struct {
	*State
	job         Job
	snapshot    coord.Snapshot // the whole tree; empty if it is being read
	isFollowing bool           // nodes change, and a path may have been read before
	changes     Changes
	isGone      bool            // a node was removed
	waits       []waitingChange // of FailoverItems
	isCluttered bool            // debris has changed, or what is unusable
	marks       slab[Mark]
	ticks       slab[Fired]
	completions slab[Completion]
	// id and tick were decoded last. Many nodes in a row have the same.
	id   string
	tick Fired
}

// apply takes in a node that was written or removed. Parents come before what is below them. A node that was
// removed comes as it was.
func (a *applier) apply(n coord.Node, isThere bool) {
	if !coord.Within(n.Path, string(a.job)) {
		return
	}
	a.Exists, a.isGone = a.Exists || isThere, a.isGone || !isThere
	k, p, isDebris := jobKinds.find(strings.TrimPrefix(n.Path[len(a.job):], "/"))
	n = a.bound(n, k, isThere)
	if k == nil {
		a.changes.Others = true
		return
	}
	if k.effect >= ofItem {
		a.touch(p.item, isThere)
	}
	switch {
	case isDebris || p.name != "" && k.apply != nil && coord.ValidatePath(n.Path) != nil:
		a.changes.Others, a.isCluttered = true, true
		if !a.isFollowing {
			a.clutter(n, isDebris)
		}
		return
	case k.effect == ofOwner:
		a.changes.Owners = true
	case k.effect != ofRecord && k.effect != aside:
		a.changes.Others = true
	}
	if k.apply != nil {
		k.apply(a, p, n, isThere)
	}
}

// touch notes that a node of an item has changed.
func (a *applier) touch(i int, isThere bool) {
	if a.isFollowing {
		if last := len(a.changes.Items) - 1; last < 0 || a.changes.Items[last] != i { // nodes come in the order of their paths
			a.changes.Items = append(a.changes.Items, i)
		}
	}
	if missing := i + 1 - len(a.Items); missing > 0 {
		a.Items = slices.Grow(a.Items, missing)[:i+1]
	}
	if item := &a.Items[i]; isThere && !item.Exists {
		item.Exists, a.changes.Owners = true, true
	}
}

// finish brings what is left up to date when all nodes have been applied.
func (a *applier) finish() {
	if len(a.waits) > 0 {
		a.FailoverItems = merge(a.FailoverItems, a.waits)
	}
	if !a.isFollowing {
		return
	}
	if a.isGone && a.Config == nil {
		a.Exists = a.snapshot.Exists(a.job.Root())
	}
	for _, i := range a.changes.Items {
		if item := &a.Items[i]; a.isGone && item.Owner == nil && item.Fired == nil && !a.snapshot.Exists(a.job.Item(i)) {
			item.Exists, a.changes.Others = false, true
		}
	}
	for len(a.Items) > 0 && !a.Items[len(a.Items)-1].Exists {
		a.Items = a.Items[:len(a.Items)-1]
	}
	if a.isCluttered { // which is seldom
		a.Debris, a.UnusableNodes, a.Unusable = nil, 0, ""
		r := applier{State: &State{}, job: a.job}
		for n := range a.snapshot.All(a.job.Root()) {
			r.apply(n, true)
		}
		a.Debris, a.UnusableNodes, a.Unusable = r.Debris, r.UnusableNodes, r.Unusable
	}
}

// maxDebris bounds how much debris a State lists. The rest is listed once that is gone.
const maxDebris = 100

// clutter lists debris, unless a node above it is listed already. It only counts a node whose path coord does
// not allow, because no request could name it: whoever has write access to the store can give a node any name.
func (a *applier) clutter(n coord.Node, isDebris bool) {
	last := len(a.Debris) - 1
	switch {
	case !isDebris || coord.ValidatePath(n.Path) != nil:
		if a.UnusableNodes++; a.UnusableNodes == 1 {
			a.Unusable = brief.Text(n.Path)
		}
	case last >= 0 && coord.Within(n.Path, a.Debris[last].Path):
	case len(a.Debris) < maxDebris:
		a.Debris = append(a.Debris, Debris{n})
	}
}

func (a *applier) mark(n coord.Node, isThere bool) *Mark {
	if !isThere {
		return nil
	}
	if string(n.Value) != a.id {
		if in, ok := a.Instances[string(n.Value)]; ok {
			a.id = in.ID
		} else {
			a.id = string(n.Value)
		}
	}
	return a.marks.add(Mark{Node: n, ID: a.id})
}

func (a *applier) fired(n coord.Node, isThere bool) *Fired {
	if !isThere {
		return nil
	}
	if !bytes.Equal(n.Value, a.tick.Value) {
		a.tick.Tick, a.tick.Run, a.tick.Err = decodeFired(n.Value)
	}
	a.tick.Node = n
	return a.ticks.add(a.tick)
}

func (a *applier) completed(n coord.Node, isThere bool) *Completion {
	if !isThere {
		return nil
	}
	return a.completions.add(Completion{n})
}

// request takes in the document of a request.
func (a *applier) request(p place, n coord.Node, isThere bool) {
	at, isKnown := a.requestAt(p.name)
	if !isThere {
		if isKnown {
			a.Requests = slices.Delete(a.Requests, at, at+1)
		}
		return
	}
	r := decodeRequest(p.name, n)
	switch {
	case !isKnown:
		a.Requests = slices.Insert(a.Requests, at, r)
	case slices.Equal(r.Items, a.Requests[at].Items):
		r.progress = a.Requests[at].progress
		a.Requests[at] = r
		return
	default:
		a.Requests[at] = r
	}
	// An external writer may have removed the document alone, or changed its items; then progress stands already.
	for below := range a.snapshot.All(n.Path) {
		if i, ok := ParseItem(strings.TrimPrefix(below.Path, n.Path+"/")); ok {
			r.setProgress(i, decodeProgress(below))
		}
	}
}

// progress takes in how far an item has come. That of an item that the request is not for goes with the request.
func (a *applier) progress(p place, n coord.Node, isThere bool) {
	r := a.Request(p.name)
	switch {
	case r == nil:
	case isThere:
		r.setProgress(p.item, decodeProgress(n))
	default:
		r.setProgress(p.item, nil)
	}
}

// waitingChange is an item that begins or ends to wait to be taken over.
type waitingChange struct {
	FailoverItem
	isThere bool
}

func (a *applier) failoverItem(p place, n coord.Node, isThere bool) {
	tick, _ := DecodeFired(n.Value) // a value that cannot be read is unknown, too
	a.waits = append(a.waits, waitingChange{FailoverItem{n, p.item, tick}, isThere})
}

// merge returns a list by items after changes. Those come in the order of their paths, and may be all of a large list.
func merge(before []FailoverItem, changes []waitingChange) []FailoverItem {
	slices.SortFunc(changes, func(a, b waitingChange) int { return a.Item - b.Item })
	var after []FailoverItem
	for _, c := range changes {
		n, isKnown := slices.BinarySearchFunc(before, c.Item, func(f FailoverItem, i int) int { return f.Item - i })
		if after, before = append(after, before[:n]...), before[n:]; isKnown {
			before = before[1:]
		}
		if c.isThere {
			after = append(after, c.FailoverItem)
		}
	}
	return append(after, before...)
}

func nodeIf(n coord.Node, isThere bool) *coord.Node {
	if !isThere {
		return nil
	}
	return &n
}

// put sets the value of a key, or removes the key.
func put[K comparable, V any](m *map[K]V, key K, value V, isThere bool) {
	if !isThere {
		if delete(*m, key); len(*m) == 0 {
			*m = nil
		}
		return
	}
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
