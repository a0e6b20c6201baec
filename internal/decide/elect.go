package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Elect makes this instance the leader if there is none. Creating the node on a condition
// is the whole election: one of those who try succeeds, whatever stands in the latch's
// queue. JVM members check and create under the latch; one that checked just before may
// replace us, and then every commit of ours as leader fails, because it is conditional on
// the node being ours.
//
// Only a registered and enabled instance that follows the configuration stands for
// election. (ElasticJob elects whoever asks first, B-68.) They stand one after the other,
// in an order that differs from job to job, so that a process which leaves does not make
// all others try for all of its jobs at once, and one does not get them all.
func (w *World) Elect() *Change {
	if w.LeaderStands() || !w.MayLead() || w.Leaderless < w.Turn() {
		return nil
	}
	if w.Leader != nil {
		return w.depose()
	}
	return &Change{Step: "elect", Ops: []coord.Op{
		w.ifMine(),
		coord.Owned(w.Job.Instance(w.Self.ID)), // so none lands after this instance stepped down
		coord.Exists(w.Job.Config()),
		coord.CreateEphemeral(w.Job.LeaderInstance(), []byte(w.Self.ID)),
	}}
}

// MayLead reports whether this instance may be the leader.
func (w *World) MayLead() bool {
	return w.IsActive() && (w.accepts(w.Self.ID) || !w.anyAccepts())
}

const (
	// turnTime is what each instance waits for the one before it to stand for election,
	// maxTurn what the last of many waits.
	turnTime = 30 * time.Millisecond
	maxTurn  = time.Second
)

// Turn is how long nobody must have led before this instance stands for election.
func (w *World) Turn() time.Duration {
	before, _ := w.place()
	return min(time.Duration(before)*turnTime, maxTurn)
}

// LeaderStands reports whether the leader is an instance that is there: the session that
// owns the leader's node also owns one of that instance's.
func (w *World) LeaderStands() bool {
	if w.Leader == nil || w.Leader.Owner == 0 {
		return false
	}
	return w.Instances[w.Leader.ID].Owner == w.Leader.Owner || w.Sessions[w.Leader.ID].Owner == w.Leader.Owner
}

// JVMLeads reports whether the leader is a JVM instance, which has no session's node.
func (w *World) JVMLeads() bool {
	return w.Leader != nil && !w.IsDead(w.Leader.ID) && w.Sessions[w.Leader.ID].Owner == 0
}

// depose removes a leader's node that is nobody's: a stranger wrote it, or it names an
// instance that is not there.
func (w *World) depose() *Change {
	ops := []coord.Op{w.ifMine(), coord.AtVersion(w.Job.LeaderInstance(), w.Leader.Version)}
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
	return &Change{Step: "depose", Heals: true, Ops: append(ops, coord.DeleteTree(w.Job.LeaderInstance()))}
}

// Abdicate gives leadership up when the server was disabled, the clock is off, or the
// configuration is one that others follow and this instance does not.
func (w *World) Abdicate() *Change {
	if !w.Leads() || w.MayLead() {
		return nil
	}
	return &Change{Step: "abdicate", Heals: true, Ops: []coord.Op{w.ifLeader(), coord.DeleteTree(w.Job.LeaderInstance())}}
}
