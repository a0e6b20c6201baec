package decide

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Register makes this instance known under its session: once at the start and once in
// every new session, under a new id, so that what belonged to a session that ended is
// nobody's. What an operator said about the server is left alone; the configured state
// counts only where nothing has been said.
//
// ElasticJob deletes and re-creates its own node when it reconnects, which others take for
// a crash (B-13, B-32, B-33).
func (w *World) Register() (*Change, error) {
	document, err := jobtree.EncodeInstance(w.Self.ID, w.Self.IP, w.Self.Labels)
	if err != nil {
		return nil, err
	}
	session, err := jobtree.EncodeSession(w.OwnSession())
	if err != nil {
		return nil, err
	}
	ops := []coord.Op{
		coord.Exists(w.Job.Config()),
		coord.CreateEphemeral(w.Job.Session(w.Self.ID), session),
		coord.CreateEphemeral(w.Job.Instance(w.Self.ID), document),
	}
	if _, ok := w.Servers[w.Self.IP]; !ok {
		state := jobtree.Enabled
		if w.Rules.Disabled {
			state = jobtree.Disabled
		}
		ops = append(ops, coord.Create(w.Job.Server(w.Self.IP), []byte(state)))
	}
	return &Change{Step: "register", Ops: ops}, nil
}

// Forestall blocks a registration whose outcome is unknown: it creates the session node
// that the registration would create, so a request that arrives late conflicts. Otherwise
// a ghost instance would be dealt items until the session ends. The session's node alone,
// which stays, concerns nobody.
func (w *World) Forestall() Change {
	return Change{Step: "forestall", Ops: []coord.Op{coord.CreateEphemeral(w.Job.Session(w.Self.ID), nil)}}
}

// Announce tells the others what has changed about this instance: the configuration that it
// follows, or cannot follow, and whether it can run anything by its clock.
func (w *World) Announce() (*Change, error) {
	node := w.Sessions[w.Self.ID]
	if node.Owner != w.Self.Session || node.SessionDocument == w.OwnSession() {
		return nil, nil
	}
	document, err := jobtree.EncodeSession(w.OwnSession())
	if err != nil {
		return nil, err
	}
	return &Change{Step: "announce", Ops: []coord.Op{
		w.ifMine(), coord.SetAt(w.Job.Session(w.Self.ID), document, node.Version),
	}}, nil
}

// OwnSession is what this instance says about itself.
func (w *World) OwnSession() jobtree.SessionDocument {
	return jobtree.SessionDocument{
		Protocol: jobtree.Protocol, Accepted: w.Accepted, Revision: w.Revision,
		Refused: w.Refused, ClockOff: w.ClockOff(), ClockFar: w.clockFar(),
	}
}

// NewerProtocol returns the id of an instance that shares the tree by rules which this
// program does not know, and their version; "" if there is none.
func (w *World) NewerProtocol() (id string, version int) {
	for other, s := range w.Sessions {
		if s.Protocol > jobtree.Protocol && (id == "" || other < id) {
			id, version = other, s.Protocol
		}
	}
	return id, version
}
