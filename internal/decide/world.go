package decide

import (
	"cmp"
	"hash/fnv"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// World is what a step decides on: a snapshot of the job's tree, and what this process
// knows at that moment. Nothing of it changes during a pass.
type World struct {
	*jobtree.State
	Job   jobtree.Job
	Rules *Rules
	Self  Self
	Now   time.Time // by the local clock
	Clock Clock
	// Slack is how much later than usual a tick may be looked at without being late, because
	// the local clock was set, or the host was suspended.
	Slack time.Duration
	// Accepted is the Modified of the configuration that the rules are of, Refused that of a
	// later one that this instance cannot follow; or 0.
	Accepted, Refused int64
	// Revision is that of the configuration which the program has brought, or 0.
	Revision int
	// Leaving is set once this instance is on its way out: it begins nothing more.
	Leaving bool
	// Absent has since when an owner of items has been missing, for static sharding.
	Absent map[string]time.Time
	// Leaderless is how long nobody has led.
	Leaderless time.Duration
}

// Self is this process as an instance of the job.
type Self struct {
	ID      string // new with each session, and when a registration is given up
	IP      string
	Labels  []string
	Session coord.SessionID
}

// IsRegistered reports whether this instance is in the tree, with both of its nodes under
// its session.
func (w *World) IsRegistered() bool {
	in, ok := w.Instances[w.Self.ID]
	if !ok || in.Owner != w.Self.Session {
		return false
	}
	s, ok := w.Sessions[w.Self.ID]
	return ok && s.Owner == w.Self.Session
}

// IsActive reports whether this instance may begin something of its own.
func (w *World) IsActive() bool {
	return w.IsRegistered() && !w.Leaving && w.Config != nil && w.ServerEnabled(w.Self.IP) && !w.ClockStops()
}

// Leads reports whether this instance is the leader.
func (w *World) Leads() bool {
	return w.Leader.Is(w.Self.ID) && w.Leader.Owner == w.Self.Session
}

// items is how many sharding items the tree has, of those that the rules count.
func (w *World) items() int { return min(w.Rules.Total, len(w.State.Items)) }

// owns reports whether an item is assigned to this instance.
func (w *World) owns(item *jobtree.Item) bool { return item.Owner.Is(w.Self.ID) }

// IsDead reports whether an instance has ended, and what it ran with it. One that was
// removed while its session lives still has its runs. A node that no session of the store
// owns stands for nobody, whoever wrote it.
func (w *World) IsDead(id string) bool {
	return w.Instances[id].Owner == 0 && w.Sessions[id].Owner == 0
}

// ifMine is the condition of all that is done in this session's name. Others take over
// what was begun here only where the node is absent, so as long as it stands nobody has.
func (w *World) ifMine() coord.Op { return coord.Owned(w.Job.Session(w.Self.ID)) }

// ifDead are the conditions of a commit that treats an instance as dead. A text that is no
// id, from an operator's hand, is nobody's: nothing can be registered under it.
func (w *World) ifDead(id string) []coord.Op {
	if coord.ValidatePath(w.Job.Instance(id)) != nil {
		return nil
	}
	return []coord.Op{coord.Absent(w.Job.Instance(id)), coord.Absent(w.Job.Session(id))}
}

// ifLeader is the condition of being the leader.
func (w *World) ifLeader() coord.Op { return coord.Owned(w.Job.LeaderInstance()) }

// ifConfigured is the condition that the configuration is still the one of the snapshot.
// Only steps that need a configuration ask for it.
func (w *World) ifConfigured() coord.Op {
	return coord.AtVersion(w.Job.Config(), w.Config.Version)
}

// ifLeading are the conditions of all that a leader decides: that it is one, and that the
// configuration is the one that it decided on. An operator who changes it may do more in
// its light, and that must not be undone in the light of the old one.
func (w *World) ifLeading() []coord.Op { return []coord.Op{w.ifLeader(), w.ifConfigured()} }

// rank puts instances in an order that differs from job to job.
func (w *World) rank(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(w.Job)) // a hash takes everything
	_, _ = h.Write([]byte{0})     // so does it here
	_, _ = h.Write([]byte(id))    // and here
	return h.Sum64()
}

// compare compares two instances in the job's order.
func (w *World) compare(a, b string) int {
	return cmp.Or(cmp.Compare(w.rank(a), w.rank(b)), cmp.Compare(a, b))
}

// place is how many of those who may have items stand before this instance in the job's
// order, and how many others there are.
func (w *World) place() (before, others int) {
	for id, in := range w.Instances {
		if id == w.Self.ID || !w.isEligible(in) {
			continue
		}
		others++
		if w.compare(id, w.Self.ID) < 0 {
			before++
		}
	}
	return before, others
}
