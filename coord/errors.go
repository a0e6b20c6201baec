package coord

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/errclass"
)

// What callers branch on, with errors.Is. Every error of a [Registry] wraps one of
// these or the cause of the caller's context, and names the path it is about.
var (
	// ErrNoNode: there is no such node.
	ErrNoNode = errclass.NotFound.New("", "no such node")
	// ErrConflict: a condition of a commit did not hold; nothing was written.
	// errors.As with a *ConflictError tells which one.
	ErrConflict = errclass.Aborted.New("", "conflict")
	// ErrNodeExists, ErrVersion, ErrNotOwner and ErrNotEmpty are, with ErrNoNode and
	// ErrDenied, the reasons of a ConflictError.
	ErrNodeExists = errors.New("node exists")
	ErrVersion    = errors.New("version differs")
	ErrNotOwner   = errors.New("not owned by this session")
	ErrNotEmpty   = errors.New("node has children")
	// ErrTooLarge: the commit or value is more than the store takes in one step.
	// Nothing was written; the caller has to divide it.
	ErrTooLarge = errclass.OutOfRange.New("too-large-for-the-store", "too large for one commit")
	// ErrUnknownOutcome: the request was sent and no answer came. It may have been
	// carried out, or may still be. Read the tree to find out.
	ErrUnknownOutcome = errclass.Unavailable.New("unknown-outcome", "outcome unknown")
	// ErrUnavailable: the store could not be reached, or cannot do this now; nothing
	// was written.
	ErrUnavailable = errclass.Unavailable.New("store-away", "store unavailable")
	// ErrSessionLost: the session's deadline has passed or the store dropped it.
	// Also the cause of a lost session's context.
	ErrSessionLost = errclass.Unavailable.New("store-away", "session lost")
	// ErrRestored: the store was put back to an earlier state, or replaced by another
	// one: its revisions went back, or it is another cluster. What was known about the
	// store is no longer true, so the session ends and a new one begins. It comes with
	// ErrSessionLost, as the cause of the session's context.
	ErrRestored = errors.New("store was put back to an earlier state")
	// ErrSessionEnded: the store would still have kept the session, but somebody else ended
	// it: on etcd, its key was removed. It comes with ErrSessionLost, as the cause of the
	// session's context. ZooKeeper does not tell that from a session that has expired.
	ErrSessionEnded = errors.New("somebody else ended it")
	// ErrLatchLost: somebody removed the candidate node of a held latch. The cause of the
	// latch's context.
	ErrLatchLost = errors.New("latch lost")
	// ErrReleased: the cause of a latch's context after Release.
	ErrReleased = errors.New("latch released")
	// ErrDenied: wrong password, missing permission, or a certificate that is not trusted.
	ErrDenied = errclass.PermissionDenied.New("store-denies", "access denied")
	// ErrClosed: the registry or view was closed.
	ErrClosed = errclass.Unavailable.New("store-away", "closed")
	// ErrInvalidPath: see ValidatePath.
	ErrInvalidPath = errors.New("invalid path")
	// ErrInvalidDepth: see ValidateDepth.
	ErrInvalidDepth = errors.New("invalid depth")
	// ErrCompacted: the store has dropped the old state that a walk was reading. A new
	// walk reads a newer one.
	ErrCompacted = errclass.Unavailable.New("store-away", "old state dropped by the store")
	// ErrInvalidCommit: see ValidateCommit.
	ErrInvalidCommit = errors.New("invalid commit")
	// ErrInvalidConfig: an adapter's configuration has a field that cannot work.
	ErrInvalidConfig = errclass.InvalidArgument.New("", "invalid configuration")
	// ErrUnsupported: the adapter does not work with this version of the store.
	ErrUnsupported = errclass.Unimplemented.New("", "unsupported version of the store")
	// ErrNoClock: the store's clock cannot be read here; see Clock.Err.
	ErrNoClock = errors.New("store clock not readable")
)

// ConflictError says which operation of a commit did not hold, and why. It matches
// [ErrConflict] and its Reason with errors.Is.
type ConflictError struct {
	Index int // position in the call's ops
	Op    Op  // that operation
	// Reason is ErrNoNode, ErrNodeExists, ErrVersion, ErrNotOwner or ErrNotEmpty. On
	// ZooKeeper it may also be ErrDenied, for a node with permissions of its own, and
	// ErrInvalidCommit, for a node below an ephemeral one.
	Reason error
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("conflict: op %d (%s): %v", e.Index, e.Op, e.Reason)
}

// Unwrap makes both ErrConflict and the reason match.
func (e *ConflictError) Unwrap() []error { return []error{ErrConflict, e.Reason} }

// StaleError is the fault of a view that cannot follow the store at present: what it shows may be
// old. It matches its cause with errors.Is.
type StaleError struct {
	// Since is the time of day, by the local clock, up to which the view has followed the store:
	// when the store was heard last, or when the attempts to read it began to fail.
	Since time.Time
	// Err is ErrUnavailable or ErrDenied, with what is wrong.
	Err error
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%v (since %s)", e.Err, e.Since.UTC().Format(time.RFC3339))
}

// Unwrap returns the cause.
func (e *StaleError) Unwrap() error { return e.Err }
