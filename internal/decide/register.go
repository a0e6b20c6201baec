package decide

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// Register creates the nodes of this instance. In each session it has another id, so what
// was done under the id of an earlier session belongs to nobody. The server's node is
// created only if there is none: what an operator has written there stays. configured are
// the operations that make sure of a configuration; without them one has to be there.
//
// (When ElasticJob reconnects, it deletes its own node and creates it again. Others take that for a crash, B-13;
// it may take it for an order to stop, B-32; and its server may be disabled afterwards, B-33.)
func (w *World) Register(configured ...coord.Op) *Change {
	if len(configured) == 0 {
		configured = []coord.Op{coord.Exists(w.Job.Config())}
	}
	ops := append(configured[:len(configured):len(configured)],
		coord.CreateEphemeral(w.Job.Session(w.Self.ID), jobtree.EncodeSession(w.OwnSession())),
		coord.CreateEphemeral(w.Job.Instance(w.Self.ID), jobtree.EncodeInstance(w.Self.ID, w.Self.IP, w.Self.Labels)),
	)
	if _, ok := w.Servers[w.Self.IP]; !ok {
		state := jobtree.Enabled
		if w.beginsDisabled() {
			state = jobtree.Disabled
		}
		isSame := coord.Absent(w.Job.Disabled())
		if w.IsDisabled {
			isSame = coord.Exists(w.Job.Disabled())
		}
		ops = append(ops, coord.Create(w.Job.Server(w.Self.IP), []byte(state)), isSame)
	}
	return &Change{Step: "register", Urgency: urgency.Sooner, Ops: ops}
}

// beginsDisabled reports whether a server that is not there yet begins disabled.
func (w *World) beginsDisabled() bool { return w.Rules.Disabled || w.IsDisabled }

// FenceRegistration fences a registration whose outcome is unknown: it creates the session node that the
// registration would create, so that a request that arrives late conflicts. Otherwise an instance that
// nobody runs would be assigned items until the session ends. The session's node stays; without an
// instance's node it has no effect on others.
func (w *World) FenceRegistration() Change {
	return Change{Step: "fence registration", Urgency: urgency.Sooner, Ops: []coord.Op{coord.CreateEphemeral(w.Job.Session(w.Self.ID), nil)}}
}

// Announce rewrites sessions/{id} when what it says about this instance has changed: which
// configuration it follows or has refused, and how far off its clock is.
func (w *World) Announce() *Change {
	node, own := w.Session(w.Self.ID), w.OwnSession()
	says := node.SessionDocument
	if says.Accepted == 0 && own.Accepted == node.Modified {
		says.Accepted = own.Accepted // the configuration came with the registration (Bootstrap)
	}
	if node.Owner != w.Self.Session || says == own {
		return nil
	}
	return &Change{Step: "announce", Urgency: urgency.Sooner, Ops: []coord.Op{
		w.ifSessionLives(), coord.SetAt(w.Job.Session(w.Self.ID), jobtree.EncodeSession(own), node.Version),
	}}
}

// RemoveStaleSelf removes another instance of the same process, with leadership if it has that; nil if
// there is none. The process had given up its registration and fenced it, but then the job was removed,
// with the fence, and created again, before the registration arrived. Nobody runs that instance, and
// nobody else can tell that, because its session lives.
func (w *World) RemoveStaleSelf() *Change {
	stale := ""
	for id, s := range w.Sessions {
		if id != w.Self.ID && w.NodeID != "" && s.NodeID == w.NodeID && s.Owner == w.Self.Session && (stale == "" || id < stale) {
			stale = id
		}
	}
	if stale == "" {
		return nil
	}
	ops := []coord.Op{w.ifSessionLives(), coord.Owned(w.Job.Session(stale)), coord.DeleteTree(w.Job.Session(stale)), coord.DeleteTree(w.Job.Instance(stale))}
	if w.Leader.Is(stale) && w.Leader.Owner == w.Self.Session {
		ops = append(ops, w.ifLeader(), coord.DeleteTree(w.Job.LeaderInstance()))
	}
	return &Change{Step: "remove stale self", Urgency: urgency.Sooner, IsRepair: true, Ops: ops}
}

// OwnSession returns what this instance says about itself in sessions/{id}.
func (w *World) OwnSession() jobtree.SessionDocument {
	return jobtree.SessionDocument{
		Protocol: jobtree.Protocol, Accepted: w.Accepted, Revision: w.Revision, Differs: w.Differs, Refused: w.Refused,
		ClockOff: w.ClockOff(), ClockFar: w.isOwnClockFar(), Ahead: w.ahead(), NodeID: w.NodeID, Release: w.ModuleVersion,
	}
}

// ahead returns by how many seconds the local clock is ahead of the store's, for sessions/{id}. As long as what is
// written there is a second off at most, it stays, so that a small difference is not written again and again.
func (w *World) ahead() int {
	told, now := w.Session(w.Self.ID).Ahead, int(w.Clock.Ahead.Round(time.Second)/time.Second)
	if -2 < now-told && now-told < 2 {
		return told
	}
	return now
}

// NewerProtocol returns the id of an instance whose protocol is newer than this program, and its version; "" if there is none.
func (w *World) NewerProtocol() (id string, version int) {
	for other, s := range w.Sessions {
		if s.Protocol > jobtree.Protocol && (id == "" || other < id) {
			id, version = other, s.Protocol
		}
	}
	return id, version
}

// OldMember returns an instance of an old protocol that does not know something that operators have asked for and
// that concerns it (pins, kills, the pause), and what that is; "" if there is none. For requests see OwnerIsOld.
func (w *World) OldMember() (id, what string) {
	if w.Leader != nil && len(w.Pins) > 0 && w.IsOld(w.Leader.ID) {
		return w.Leader.ID, "leads, and does not know pins"
	}
	for i, kill := range w.Kills {
		if item := w.Item(i); item.Running != nil && item.Fired != nil && kill.Kills(item.Fired.Modified) {
			if runner := w.runnerOf(&item); w.IsOld(runner) && (id == "" || runner < id) {
				id, what = runner, "does not know kills"
			}
		}
	}
	if id != "" || !w.IsPaused() {
		return id, what
	}
	for other := range w.Instances {
		if w.IsOld(other) && (id == "" || other < id) {
			id, what = other, "does not know the pause"
		}
	}
	return id, what
}
