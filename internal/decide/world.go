package decide

import (
	"cmp"
	"hash/fnv"
	"iter"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// World is what a step decides on: a snapshot of the job's tree, and what this process knows
// at that moment. It does not change during a pass.
type World struct {
	*jobtree.State
	Job   jobtree.Job
	Rules *Rules
	Self  Self
	Now   time.Time // by the local clock
	// Moment is the same by the monotonic clock.
	Moment clocks.Moment
	Clock  Clock
	// Slack is how much later than usual a tick may be seen and still be on time, because the
	// local clock was set while this process waited.
	Slack time.Duration
	// Former is the schedule that is recorded, while that is another one than that of the rules; nil if
	// nobody can tell what it means.
	Former *Former
	// Lead is how long before its tick an item may be claimed; 0 is not at all. NextLead is how long before it the commit
	// that finishes a run may claim its item again.
	Lead, NextLead time.Duration
	// Accepted is Modified of the configuration from which the rules come. Refused is that of
	// a later configuration that this instance cannot follow; 0 if there is none.
	Accepted, Refused int64
	// Revision is Config.Revision as the program gave it; 0 if it gave none. Differs says in what its configuration
	// is another one than that of Accepted, as in jobtree.SessionDocument.
	Revision int
	Differs  string
	// Leaving is set when this instance is leaving: it claims nothing more.
	Leaving bool
	// Absent says, for static sharding, since when each missing owner has been missing.
	Absent map[string]clocks.Moment
	// Mixed is what this process has seen of JVM members; nil if nothing of them matters.
	Mixed *Mixed
	// Leaderless is for how long nobody has led.
	Leaderless time.Duration
	// UnansweredClaims is how many items run here by the tree that are not in [Work], because the answers to their
	// claims were lost. They count for [Rules.MaxItems] as well.
	UnansweredClaims int
	// NodeID names this process in the session's document; "" if it shows no node of its own.
	NodeID string
	// ModuleVersion is the version of this module in the program; "" if it is not known.
	ModuleVersion string
	// Dirty are the items that a partial pass looks at: only they have changed since the last pass. It is nil
	// in a full pass.
	Dirty []int

	ticks tickCache
	queue *queue // the answer of requestQueue
}

// tickCache has the answer of [World.LastTick], and what it was asked about.
type tickCache struct {
	rules    *Rules
	schedule *jobtree.Schedule
	now      time.Time
	last     time.Time
	before   time.Time     // the tick before last; with Jitter only, and so is the rest
	interval time.Duration // how long after last the next tick comes
	base     uint64        // where the delays of the job's items begin
}

// itemsToLookAt goes over the items below n: in a partial pass only the dirty ones.
func (w *World) itemsToLookAt(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if w.Dirty == nil {
			for i := range n {
				if !yield(i) {
					return
				}
			}
			return
		}
		for _, i := range w.Dirty {
			if i < n && !yield(i) {
				return
			}
		}
	}
}

// Self is this process as an instance of the job.
type Self struct {
	ID      string // another one in each session, and after an identity was given up
	IP      string
	Labels  []string
	Session coord.SessionID
}

// IsRegistered reports whether this instance is in the tree, with both of its nodes under its session.
func (w *World) IsRegistered() bool {
	in, ok := w.Instances[w.Self.ID]
	if !ok || in.Owner != w.Self.Session {
		return false
	}
	s, ok := w.Sessions[w.Self.ID]
	return ok && s.Owner == w.Self.Session
}

// IsActive reports whether this instance may claim anything.
func (w *World) IsActive() bool {
	return w.IsRegistered() && !w.Leaving && w.Config != nil && w.ServerEnabled(w.Self.IP) && !w.ClockStops()
}

// Leads reports whether this instance is the leader.
func (w *World) Leads() bool {
	return w.Leader.Is(w.Self.ID) && w.Leader.Owner == w.Self.Session
}

// itemCount returns how many of the items below Total the tree has, at most.
func (w *World) itemCount() int { return min(w.Rules.Total, len(w.State.Items)) }

// owns reports whether an item is assigned to this instance.
func (w *World) owns(item *jobtree.Item) bool { return item.Owner.Is(w.Self.ID) }

// IsDead reports whether an instance has ended: the tree has neither instances/{id} nor sessions/{id} of
// it. If only instances/{id} was removed, its session lives, and its runs go on. A node that no session
// owns does not count, whoever wrote it.
func (w *World) IsDead(id string) bool {
	return w.Instances[id].Owner == 0 && w.Session(id).Owner == 0
}

// ifSessionLives is the condition that the session of this instance has not ended: sessions/{id} belongs to it.
// Almost all that this instance commits has it: others run its items again only after that node is gone.
func (w *World) ifSessionLives() coord.Op { return coord.Owned(w.Job.Session(w.Self.ID)) }

// sessionHead begins changes with ifSessionLives.
func (w *World) sessionHead() []coord.Op { return []coord.Op{w.ifSessionLives()} }

// sessionConfigHead begins changes with ifSessionLives and, if there is a configuration, ifSameConfig.
func (w *World) sessionConfigHead() []coord.Op {
	if w.Config == nil {
		return w.sessionHead()
	}
	return []coord.Op{w.ifSessionLives(), w.ifSameConfig()}
}

// nobodyMayHead begins changes with ifSessionLives and the condition that no server was enabled meanwhile: there soon is a
// leader then. Where one leads, who has not the label, this server is still disabled, and skipOps has that nobody got the item.
// An enabled instance that has joined, and is not in the view yet, counts as one that joins after the tick.
func (w *World) nobodyMayHead() []coord.Op {
	if w.Leader == nil {
		return []coord.Op{w.ifSessionLives(), coord.Absent(w.Job.LeaderInstance())}
	}
	return []coord.Op{w.ifSessionLives(), coord.AtVersion(w.Job.Server(w.Self.IP), w.Servers[w.Self.IP].Version)}
}

// ifDead are the conditions that an instance has ended. An id that cannot be part of a path was written by
// an external writer: no instance has it, and no condition is needed.
func (w *World) ifDead(id string) []coord.Op {
	if coord.ValidatePath(w.Job.Instance(id)) != nil {
		return nil
	}
	return []coord.Op{coord.Absent(w.Job.Instance(id)), coord.Absent(w.Job.Session(id))}
}

// ifLeader is the condition of being the leader.
func (w *World) ifLeader() coord.Op { return coord.Owned(w.Job.LeaderInstance()) }

// ifSameConfig is the condition that the configuration is still the one of the snapshot, which must have one.
func (w *World) ifSameConfig() coord.Op {
	return coord.AtVersion(w.Job.Config(), w.Config.Version)
}

// ifActingLeader is ifLeading for what the acting leader does: under a JVM leader, that this one still leads.
func (w *World) ifActingLeader() []coord.Op {
	if w.Leads() || w.Leader == nil {
		return w.ifLeading()
	}
	return []coord.Op{w.ifSessionLives(), w.ifSameConfig(), coord.AtVersion(w.Job.LeaderInstance(), w.Leader.Version)}
}

// isActingLeader reports whether this instance leads, or a JVM does, and this instance is the coordinator.
func (w *World) isActingLeader() bool {
	return w.Leads() || w.IsMixed() && w.JVMLeads() && w.IsCoordinator()
}

// ifLeading are the conditions of what a leader decides by the configuration: this instance leads, and the
// configuration is the one of the snapshot. An operator may change the configuration and then other nodes;
// a leader that does not know the new configuration yet must not undo that.
func (w *World) ifLeading() []coord.Op { return []coord.Op{w.ifLeader(), w.ifSameConfig()} }

// orderKey returns the number by which instances are ordered. The order differs from job to job.
func (w *World) orderKey(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(w.Job)) // a hash returns no error
	_, _ = h.Write([]byte{0})     // as above
	_, _ = h.Write([]byte(id))    // as above
	return h.Sum64()
}

// compare compares two instances in the job's order.
func (w *World) compare(a, b string) int {
	return cmp.Or(cmp.Compare(w.orderKey(a), w.orderKey(b)), cmp.Compare(a, b))
}

// positionInOrder returns how many other instances are eligible, and how many of these come before this
// instance in the job's order.
func (w *World) positionInOrder() (before, others int) {
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
