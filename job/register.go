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
	ops := []coord.Op{
		coord.Exists(w.job.Config()),
		coord.CreateEphemeral(w.job.Session(w.self.id), nil),
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

// forestall makes a registration whose answer was lost fail if it is still to come: it
// would stand for an instance that is no more, and be dealt items, for as long as the
// session lives. The session's node alone, which stays, concerns nobody.
func (w *world) forestall() commit {
	return commit{step: "forestall", ops: []coord.Op{coord.CreateEphemeral(w.job.Session(w.self.id), nil)}}
}
