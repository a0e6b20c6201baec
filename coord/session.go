package coord

import (
	"context"
	"time"
)

// SessionID identifies a session in its store: etcd's lease id, ZooKeeper's session
// id. It is the Owner of the session's ephemeral nodes, and never 0.
type SessionID int64

// SessionState is where a session stands; the package comment draws it.
type SessionState int

// The states of a session.
const (
	// Connected: the last renewal succeeded.
	Connected SessionState = iota + 1
	// Suspended: a renewal failed. The session may still come back, and its
	// ephemeral nodes still exist.
	Suspended
	// Lost: the deadline passed, the store dropped the session, or it was closed.
	Lost
)

func (s SessionState) String() string {
	switch s {
	case Connected:
		return "connected"
	case Suspended:
		return "suspended"
	case Lost:
		return "lost"
	}
	return "unknown"
}

// Session is what ephemeral nodes belong to: the store removes them when it ends.
type Session interface {
	ID() SessionID

	// Context ends when the session can no longer be trusted, with the cause
	// ErrSessionLost, or ErrClosed after Close of the registry. That is before the
	// store can have dropped the ephemeral nodes, unless somebody ended the
	// session there (ErrSessionEnded, where the store tells), or the store was put back
	// to an earlier state (ErrRestored).
	// The registry does not end a lost session at the store before its time-out has
	// passed, because work that obeys Context may need that time to return.
	Context() context.Context

	// Deadline is when Context will end if no renewal succeeds before then: the
	// local time just before the last successful renewal was sent, plus the
	// time-out that the store granted, less a margin of a tenth of it and at
	// least 200 ms.
	Deadline() time.Time

	// State returns the state now, and a channel that is closed when it changes.
	State() (SessionState, <-chan struct{})
}
