package jobtree

import (
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// State is a job's tree as a snapshot shows it. It shares memory with the snapshot. Nobody may change it, but for
// [State.Follow], which changes maps and lists in place.
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
	// IsDisabled is whether an operator has disabled the job, and not servers of it one by one. Servers that come later
	// begin disabled then; he may have enabled single ones.
	IsDisabled bool
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

	// TooLarge has the sizes of nodes whose values are not read for them, by path.
	TooLarge map[string]int
	// LeftOut has how many nodes are not read, because there are too many, by what they are below.
	LeftOut map[string]int

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

// Debris is a node below one that has no children: below running, say, or below an
// instance. Only external writers write such nodes. They have to go: a store may refuse to remove
// a node that has a child, and a node that was removed counts as there while it has one.
type Debris struct {
	coord.Node
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
	at, isThere := s.requestAt(id)
	if !isThere {
		return nil
	}
	return s.Requests[at]
}

func (s *State) requestAt(id string) (at int, isThere bool) {
	return slices.BinarySearchFunc(s.Requests, id, func(r *Request, id string) int { return strings.Compare(r.ID, id) })
}

// ServerEnabled reports whether instances at the address may have items. A server without
// a node is enabled.
func (s *State) ServerEnabled(ip string) bool {
	server, ok := s.Servers[ip]
	return !ok || server.Enabled
}
