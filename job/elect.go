package job

import "github.com/elasticjob-go/elasticjob/coord"

// elect makes this instance the leader if there is none. Creating the node on a
// condition is the whole election: one of those who try succeeds, whatever stands in
// the latch's queue. JVM members check and create under the latch; one that checked
// just before may replace us, and then every commit of ours as leader fails, because
// it is conditional on the node being ours.
//
// Only a registered and enabled instance stands for election (B-68).
func (w *world) elect() *commit {
	if w.Leader != nil || !w.active() {
		return nil
	}
	return &commit{step: "elect", ops: []coord.Op{
		w.mine(),
		coord.Owned(w.job.Instance(w.self.id)), // so none lands after this instance stepped down
		coord.Exists(w.job.Config()),
		coord.CreateEphemeral(w.job.LeaderInstance(), []byte(w.self.id)),
	}}
}

// abdicate gives leadership up when the server was disabled.
func (w *world) abdicate() *commit {
	if !w.leads() || w.active() {
		return nil
	}
	return &commit{step: "abdicate", ops: []coord.Op{w.leader(), coord.Delete(w.job.LeaderInstance())}}
}

// leader is the condition of being the leader.
func (w *world) leader() coord.Op { return coord.Owned(w.job.LeaderInstance()) }

// asLeader are the conditions of all that a leader decides: that it is one, and that
// the configuration is the one that it decided on. An operator who changes it may do
// more in its light, and that must not be undone in the light of the old one.
func (w *world) asLeader() []coord.Op { return []coord.Op{w.leader(), w.configured()} }

// configured is the condition that the configuration is still the one of the snapshot.
func (w *world) configured() coord.Op {
	return coord.AtVersion(w.job.Config(), w.Config.Version)
}
