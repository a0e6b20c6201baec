package job

import (
	"cmp"
	"hash/fnv"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// elect makes this instance the leader if there is none. Creating the node on a
// condition is the whole election: one of those who try succeeds, whatever stands in
// the latch's queue. JVM members check and create under the latch; one that checked
// just before may replace us, and then every commit of ours as leader fails, because
// it is conditional on the node being ours.
//
// Only a registered and enabled instance that follows the configuration stands for
// election (B-68: ElasticJob elects whoever asks first). They stand one after the other,
// in an order that differs from job to job, so that a process which leaves does not make
// all others try for all of its jobs at once, and one does not get them all.
func (w *world) elect() *commit {
	if w.leaderStands() || !w.mayLead() || w.leaderless < w.turn() {
		return nil
	}
	if w.Leader != nil {
		return w.depose()
	}
	return &commit{step: "elect", ops: []coord.Op{
		w.mine(),
		coord.Owned(w.job.Instance(w.self.id)), // so none lands after this instance stepped down
		coord.Exists(w.job.Config()),
		coord.CreateEphemeral(w.job.LeaderInstance(), []byte(w.self.id)),
	}}
}

// mayLead reports whether this instance may be the leader.
func (w *world) mayLead() bool {
	return w.active() && (w.accepts(w.self.id) || !w.anyAccepts())
}

const (
	// turnTime is what each instance waits for the one before it to stand for election,
	// maxTurn what the last of many waits.
	turnTime = 30 * time.Millisecond
	maxTurn  = time.Second
)

// turn is how long nobody must have led before this instance stands for election.
func (w *world) turn() time.Duration {
	before, _ := w.place()
	return min(time.Duration(before)*turnTime, maxTurn)
}

// place is how many of those who may have items stand before this instance in the job's
// order, and how many others there are.
func (w *world) place() (before, others int) {
	own := w.rank(w.self.id)
	for id, in := range w.Instances {
		if id == w.self.id || !w.eligible(in) {
			continue
		}
		others++
		if cmp.Or(cmp.Compare(w.rank(id), own), cmp.Compare(id, w.self.id)) < 0 {
			before++
		}
	}
	return before, others
}

// rank puts instances in an order that differs from job to job.
func (w *world) rank(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(w.job)) // a hash takes everything
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(id))
	return h.Sum64()
}

// leaderStands reports whether the leader is an instance that is there: the session that
// owns the leader's node also owns one of that instance's.
func (w *world) leaderStands() bool {
	if w.Leader == nil || w.Leader.Owner == 0 {
		return false
	}
	return w.Instances[w.Leader.ID].Owner == w.Leader.Owner || w.Sessions[w.Leader.ID].Owner == w.Leader.Owner
}

// depose removes a leader's node that is nobody's: a stranger wrote it, or it names an
// instance that is not there.
func (w *world) depose() *commit {
	ops := []coord.Op{w.mine(), coord.AtVersion(w.job.LeaderInstance(), w.Leader.Version)}
	id := w.Leader.ID
	if w.Leader.Owner != 0 && coord.ValidatePath(w.job.Instance(id)) == nil {
		// A view may show the leader before the instance.
		if in, ok := w.Instances[id]; ok {
			ops = append(ops, coord.AtVersion(w.job.Instance(id), in.Version))
		} else {
			ops = append(ops, coord.Absent(w.job.Instance(id)))
		}
		if s, ok := w.Sessions[id]; ok {
			ops = append(ops, coord.AtVersion(w.job.Session(id), s.Version))
		} else {
			ops = append(ops, coord.Absent(w.job.Session(id)))
		}
	}
	return &commit{step: "depose", heals: true, ops: append(ops, coord.DeleteTree(w.job.LeaderInstance()))}
}

// abdicate gives leadership up when the server was disabled, the clock is off, or the
// configuration is one that others follow and this instance does not.
func (w *world) abdicate() *commit {
	if !w.leads() || w.mayLead() {
		return nil
	}
	return &commit{step: "abdicate", heals: true, ops: []coord.Op{w.leader(), coord.DeleteTree(w.job.LeaderInstance())}}
}

// leader is the condition of being the leader.
func (w *world) leader() coord.Op { return coord.Owned(w.job.LeaderInstance()) }

// asLeader are the conditions of all that a leader decides: that it is one, and that
// the configuration is the one that it decided on. An operator who changes it may do
// more in its light, and that must not be undone in the light of the old one.
func (w *world) asLeader() []coord.Op { return []coord.Op{w.leader(), w.configured()} }

// configured is the condition that the configuration is still the one of the snapshot.
// Only steps that need a configuration ask for it.
func (w *world) configured() coord.Op {
	return coord.AtVersion(w.job.Config(), w.Config.Version)
}
