package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// Elect makes this instance the leader if there is none: of those who try to create the
// leader's node, one succeeds. If a node is there that is nobody's, Elect only removes it.
//
// JVM members check for the node and create it while they hold a latch, which we do not use.
// One that has checked just before may replace our node. Then every commit of ours as
// leader fails, because it is conditional on the node being ours.
//
// Only an instance that is registered and enabled and follows the configuration tries.
// (ElasticJob elects an instance before it is registered, and a disabled one, too.) They try
// one after the other, in an order that differs from job to job. So when a process leaves,
// not all others try at once for all the jobs that it led, and no single one gets them all.
func (w *World) Elect() *Change {
	if w.LeaderIsAlive() || !w.MayLead() || w.Leaderless < w.ElectionDelay() {
		return nil
	}
	if w.Leader != nil {
		return w.depose()
	}
	return &Change{Step: "elect", Urgency: urgency.Soonest, Ops: []coord.Op{
		w.ifSessionLives(),
		coord.Owned(w.Job.Instance(w.Self.ID)), // not after this instance has stepped down
		coord.Exists(w.Job.Config()),
		coord.CreateEphemeral(w.Job.LeaderInstance(), []byte(w.Self.ID)),
	}}
}

// MayLead reports whether this instance may be the leader.
func (w *World) MayLead() bool {
	return w.IsActive() && (w.acceptsConfig(w.Self.ID) || !w.anyAcceptsConfig())
}

const (
	// delayPerInstance is how long each instance waits for the one before it to try, and maxElectionDelay how
	// long an instance waits at most.
	delayPerInstance = 30 * time.Millisecond
	maxElectionDelay = time.Second
)

// ElectionDelay returns for how long nobody must have led before this instance tries to be elected. It
// grows with the instance's place in the job's order.
func (w *World) ElectionDelay() time.Duration {
	before, _ := w.positionInOrder()
	return min(time.Duration(before)*delayPerInstance, maxElectionDelay)
}

// LeaderIsAlive reports whether the leader's node belongs to the same session as one of the nodes of the
// instance that it names.
func (w *World) LeaderIsAlive() bool {
	if w.Leader == nil || w.Leader.Owner == 0 {
		return false
	}
	return w.Instances[w.Leader.ID].Owner == w.Leader.Owner || w.Session(w.Leader.ID).Owner == w.Leader.Owner
}

// JVMLeads reports whether the leader is a JVM instance, which has no session's node.
func (w *World) JVMLeads() bool {
	return w.Leader != nil && !w.IsDead(w.Leader.ID) && w.Session(w.Leader.ID).Owner == 0
}

// depose removes a leader's node that is nobody's: an external writer has written it, or it names an
// instance that is not there.
func (w *World) depose() *Change {
	ops := []coord.Op{w.ifSessionLives(), coord.AtVersion(w.Job.LeaderInstance(), w.Leader.Version)}
	id := w.Leader.ID
	if w.Leader.Owner != 0 && coord.ValidatePath(w.Job.Instance(id)) == nil {
		// A view may show the leader before the instance.
		if in, ok := w.Instances[id]; ok {
			ops = append(ops, coord.AtVersion(w.Job.Instance(id), in.Version))
		} else {
			ops = append(ops, coord.Absent(w.Job.Instance(id)))
		}
		if s, ok := w.Sessions[id]; ok {
			ops = append(ops, coord.AtVersion(w.Job.Session(id), s.Version))
		} else {
			ops = append(ops, coord.Absent(w.Job.Session(id)))
		}
	}
	return &Change{Step: "depose", Urgency: urgency.Soonest, IsRepair: true, Ops: append(ops, coord.DeleteTree(w.Job.LeaderInstance()))}
}

// Abdicate gives leadership up if this instance may not lead any more: its server was
// disabled, its clock is off, or it has refused the configuration and others have not.
func (w *World) Abdicate() *Change {
	if !w.Leads() || w.MayLead() {
		return nil
	}
	return &Change{Step: "abdicate", Urgency: urgency.Soonest, IsRepair: true, Ops: append([]coord.Op{w.ifLeader(), coord.DeleteTree(w.Job.LeaderInstance())}, w.reshardOnHandover()...)}
}
