package decide

import (
	"maps"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Bootstrapper returns the world as it will be when this instance is registered and leads. It
// returns nil unless the snapshot shows that nobody else is there and nothing is in the way:
// then this instance may do in its first commit what it would do next as leader.
func (w *World) Bootstrapper() *World {
	_, isKnown := w.Servers[w.Self.IP]
	if len(w.Instances) > 0 || w.Leader != nil || len(w.Debris) > 0 || w.isOwnClockFar() || !isKnown && w.beginsDisabled() {
		return nil
	}
	leading, state := *w, *w.State
	leading.State = &state
	node := coord.Node{Owner: w.Self.Session}
	state.Instances = map[string]jobtree.Instance{w.Self.ID: {Node: node, ID: w.Self.ID, IP: w.Self.IP, Labels: w.Self.Labels}}
	state.Sessions = map[string]*jobtree.Session{w.Self.ID: {Node: node, SessionDocument: w.OwnSession()}}
	maps.Copy(state.Sessions, w.Sessions)
	state.Leader = &jobtree.Mark{Node: node, ID: w.Self.ID}
	if state.Config == nil {
		state.Config = &coord.Node{Modified: 1} // it comes with the same commit
	}
	if !leading.MayLead() {
		return nil
	}
	return &leading
}

// Bootstrap registers this instance and makes it the leader in one commit, which also puts the
// schedule in force and assigns the items. bootstrapper comes from [World.Bootstrapper]; owners is the
// strategy's answer for it. If owners is nil, or if the items are too many for one commit,
// the leader assigns them later. configure are the operations that write the configuration;
// without them the condition is that the configuration is the one of the snapshot.
//
// If anything has changed since the snapshot, nothing happens: another leader came first, or the configuration is
// another one. The operations on items have the conditions of [Assign]. If another instance registers at the same
// time, it is not assigned anything here; it is one of the instances when this leader looks again.
func (w *World) Bootstrap(bootstrapper *World, owners []string, configure ...coord.Op) (*Change, error) {
	if len(configure) == 0 {
		configure = []coord.Op{w.ifSameConfig()}
	}
	change := w.Register(configure...)
	change.Step = "bootstrap"
	change.Ops = append(change.Ops, coord.CreateEphemeral(w.Job.LeaderInstance(), []byte(w.Self.ID)))
	put, err := bootstrapper.scheduleOps()
	if err != nil {
		return nil, err
	}
	change.Ops = append(change.Ops, put...)
	if owners == nil {
		return change, nil
	}
	if assign := bootstrapper.Assign(owners); len(assign) == 1 {
		ops := assign[0].Ops[assign[0].Parts[0].from:] // the conditions before are those of a leader
		if all := append(change.Ops[:len(change.Ops):len(change.Ops)], ops...); coord.ValidateCommit(all...) == nil {
			change.Ops = all
		}
	}
	return change, nil
}
