package jobtree

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

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

// SessionDocument is what an instance tells the leader, which deals the items, about itself.
type SessionDocument struct {
	// Protocol is the version of the rules that the instance follows; 0 if it was built
	// before there was a number.
	Protocol int
	// Accepted is the Modified of the configuration that the instance works by. It is 0 if
	// the commit that wrote this node wrote that configuration, too, or if there is none.
	Accepted int64
	// Revision is the revision of the configuration that its program brought, or 0.
	Revision int
	// Refused is the Modified of the configuration that the instance has refused, or 0. It
	// gets no items until there is another configuration.
	Refused int64
	// Leaving is whether the instance is leaving: it gets no items, but its node in instances stays until
	// nothing runs here any more, because JVM members take its end for a crash.
	Leaving bool
	// ClockOff is whether the instance runs nothing, because its clock is farther from the
	// store's than the job allows.
	ClockOff bool
	// ClockFar is whether its clock is so far from the store's that it gets no items while
	// there is an instance whose clock is right.
	ClockFar bool
	// Ahead is by how many seconds its clock is ahead of the store's, certainly; negative if it is behind. It is
	// told again when it has changed by two at least.
	Ahead int
	// Release is the version of this module in its program; "" if that does not know it.
	Release string
	// NodeID names the process that the instance is part of: see [Node]. It is "" if the process
	// shows no such node.
	NodeID string
}

// EncodeSession writes the value of a session's node. The zero document is an empty value.
func EncodeSession(d SessionDocument) []byte {
	var document []byte
	number := func(key string, n int64) {
		if n != 0 {
			document = append(strconv.AppendInt(append(document, key...), n, 10), '\n')
		}
	}
	flag := func(key string, isSet bool) {
		if isSet {
			document = append(append(document, key...), "true\n"...)
		}
	}
	number("protocol: ", int64(d.Protocol))
	number("accepted: ", d.Accepted)
	number("revision: ", int64(d.Revision))
	number("refused: ", d.Refused)
	flag("leaving: ", d.Leaving)
	flag("clockOff: ", d.ClockOff)
	flag("clockFar: ", d.ClockFar)
	number("ahead: ", int64(d.Ahead))
	document = appendText(document, "node", d.NodeID, maxNodeID)
	return appendText(document, "release", d.Release, maxName)
}

func decodeSession(n coord.Node) *Session {
	s := &Session{Node: n}
	if len(n.Value) == 0 {
		return s
	}
	const most = 4 << 10
	if len(n.Value) > most {
		s.Err = fmt.Errorf("document of a session: %d bytes, at most %d are allowed", len(n.Value), most)
		return s
	}
	if s.SessionDocument, s.Err = readSession(n.Value); s.Err != nil {
		s.Err = fmt.Errorf("document of a session: %w", brief.Error(s.Err))
	}
	switch {
	case s.Err != nil:
	case len(s.NodeID) > maxNodeID:
		s.Err = fmt.Errorf("document of a session: node: %d bytes, at most %d are allowed", len(s.NodeID), maxNodeID)
	}
	if s.Err != nil {
		s.SessionDocument = SessionDocument{Protocol: s.Protocol}
	}
	return s
}

// readSession reads the document of a session. An error comes with what could be read.
func readSession(value []byte) (d SessionDocument, err error) {
	document, err := yamldoc.Parse(value)
	if errors.Is(err, yamldoc.ErrEmpty) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	for key, field := range map[string]any{
		"protocol": &d.Protocol, "accepted": &d.Accepted, "revision": &d.Revision, "refused": &d.Refused, "leaving": &d.Leaving, "clockOff": &d.ClockOff,
		"clockFar": &d.ClockFar, "ahead": &d.Ahead, "release": &d.Release, "node": &d.NodeID,
	} {
		n := document[key]
		if yamldoc.IsNull(n) {
			continue
		}
		if unread := n.Decode(field); unread != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", key, unread))
		}
	}
	return d, err
}
