package coord

import "context"

// Latch is a queue of candidates, one of whom at a time holds the latch, in the
// order of their arrival. The queue lives in the store: candidates are ephemeral
// nodes below the latch's path. On ZooKeeper they are those of Curator's
// LeaderLatch (protected, sequential, prefix "latch-"), so that JVM members can
// stand in the same queue.
type Latch interface {
	// Acquire joins the queue and waits until it is this candidate's turn. When it
	// fails the candidate is withdrawn; one that cannot be, because the store is
	// away, ends with the session. A latch may be acquired several times over; each
	// call is a candidate of its own.
	//
	// Errors: the cause of ctx, ErrSessionLost if the session is lost on the way.
	Acquire(ctx context.Context) (Held, error)
}

// Held is a latch that is held.
type Held interface {
	// Context ends when the latch can no longer be trusted. Its cause is
	// ErrSessionLost, ErrLatchLost if the candidate's node was removed,
	// ErrReleased, or ErrClosed.
	Context() context.Context

	// Token is the fencing token: larger than that of every earlier holder.
	Token() int64

	// Release leaves the queue. It ends Context first, so nobody else holds the
	// latch while this one is trusted. A second Release does nothing.
	//
	// Errors: those of a commit; then the candidate ends with the session.
	Release(ctx context.Context) error
}
