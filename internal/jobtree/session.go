package jobtree

import "github.com/elasticjob-go/elasticjob/coord"

// Session is the node that stands as long as the session of an instance does. A JVM
// member has none.
type Session struct {
	coord.Node
	SessionDocument
	// Err says why the document could not be read. Then the document is zero except for
	// Protocol, if that could be read: a newer protocol may write the other fields in
	// another way.
	Err error
}

// Protocol is the version of the rules by which the instances of a job share its tree.
// Raise it if instances with the old rules and instances with the new ones would harm each
// other in one tree: if a node or a value gets another meaning, or if a condition changes
// that every commit needs. Do not raise it for a node or a key that old instances may
// ignore.
//
// Instances below protocol 2 know no kills, pauses, requests and pins: they begin ticks during
// a pause, and as leaders they end it.
const Protocol = 2

// steered is the first protocol that knows kills, pauses, requests and pins.
const steered = 2

// IsOld reports whether an instance of ours is there that knows no kills, pauses, requests and
// pins.
func (s *State) IsOld(id string) bool {
	in, isThere := s.Instances[id]
	session := s.Sessions[id]
	return isThere && in.Owner != 0 && session != nil && session.Protocol < steered
}

// SessionDocument is what an instance tells the leader, which assigns the items, about itself.
type SessionDocument struct {
	// Protocol is the version of the rules that the instance follows; 0 if it was built before there was a number.
	Protocol int `doc:"protocol"`
	// Accepted is the Modified of the configuration that the instance works by. It is 0 if
	// the commit that wrote this node wrote that configuration, too, or if there is none.
	Accepted int64 `doc:"accepted"`
	// Revision is the revision of the configuration that its program brought, or 0.
	Revision int `doc:"revision"`
	// Differs has a line for each field in which the configuration of its program differs from the one that it works
	// by, which is the store's: the field, the program's value, and the store's, with tabs between them.
	Differs string `doc:"differs,1000"`
	// Refused is the Modified of the configuration that the instance has refused, or 0. It
	// gets no items until there is another configuration.
	Refused int64 `doc:"refused"`
	// Leaving is whether the instance is leaving: it gets no items, but its node in instances stays until
	// nothing runs here any more, because JVM members take its end for a crash.
	Leaving bool `doc:"leaving"`
	// ClockOff is whether the instance runs nothing, because its clock is farther from the store's than the job allows.
	ClockOff bool `doc:"clockOff"`
	// ClockFar is whether its clock is so far from the store's that it gets no items while the clock of another is right.
	ClockFar bool `doc:"clockFar"`
	// Ahead is by how many seconds its clock is ahead of the store's, certainly; negative if it is behind. It is
	// told again when it has changed by two at least.
	Ahead int `doc:"ahead"`
	// Release is the version of this module in its program; "" if that does not know it.
	Release string `doc:"release,64"`
	// NodeID names the process that the instance is part of: see [Node]. It is "" if the process
	// shows no such node.
	NodeID string `doc:"node,319"`
}

var sessionCodec = newCodec[SessionDocument]("document of a session", 4<<10, nil)

// EncodeSession writes the value of a session's node. The zero document is an empty value.
func EncodeSession(d SessionDocument) []byte { return sessionCodec.encode(d) }

func decodeSession(n coord.Node) *Session {
	s := &Session{Node: n}
	if s.SessionDocument, s.Err = sessionCodec.read(n.Value); s.Err != nil {
		s.SessionDocument = SessionDocument{Protocol: s.Protocol}
	}
	return s
}
