package job

import (
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// register makes this instance known under its session: once at the start and once
// in every new session, under a new id, so that what belonged to a session that
// ended is nobody's. What an operator said about the server is left alone; the
// configured state counts only where nothing has been said.
//
// ElasticJob deletes and re-creates its own node when it reconnects, which others
// take for a crash (B-13, B-32, B-33).
func (w *world) register() (*commit, error) {
	document, err := jobtree.EncodeInstance(w.self.id, w.self.ip, w.self.labels)
	if err != nil {
		return nil, err
	}
	session, err := w.sessionDocument()
	if err != nil {
		return nil, err
	}
	ops := []coord.Op{
		coord.Exists(w.job.Config()),
		coord.CreateEphemeral(w.job.Session(w.self.id), session),
		coord.CreateEphemeral(w.job.Instance(w.self.id), document),
	}
	if _, ok := w.Servers[w.self.ip]; !ok {
		state := jobtree.Enabled
		if w.settings.Disabled {
			state = jobtree.Disabled
		}
		ops = append(ops, coord.Create(w.job.Server(w.self.ip), []byte(state)))
	}
	return &commit{step: "register", ops: ops}, nil
}

// forestall blocks a registration whose outcome is unknown: it creates the session node
// that the registration would create, so a request that arrives late conflicts. Otherwise
// a ghost instance would be dealt items until the session ends. The session's node alone,
// which stays, concerns nobody.
func (w *world) forestall() commit {
	return commit{step: "forestall", ops: []coord.Op{coord.CreateEphemeral(w.job.Session(w.self.id), nil)}}
}

// announce tells whoever deals the items what this instance cannot do now: follow the
// configuration, or run anything by its clock.
func (w *world) announce() (*commit, error) {
	node := w.Sessions[w.self.id]
	if node.Owner != w.self.session || node.SessionDocument == w.standsBack() {
		return nil, nil
	}
	document, err := w.sessionDocument()
	if err != nil {
		return nil, err
	}
	return &commit{step: "announce", heals: true, ops: []coord.Op{
		w.mine(), coord.SetAt(w.job.Session(w.self.id), document, node.Version),
	}}, nil
}

// standsBack is what keeps this instance from having items.
func (w *world) standsBack() jobtree.SessionDocument {
	return jobtree.SessionDocument{Refused: w.refused, ClockOff: w.clockOff, ClockFar: w.clockFar}
}

func (w *world) sessionDocument() ([]byte, error) { return jobtree.EncodeSession(w.standsBack()) }
