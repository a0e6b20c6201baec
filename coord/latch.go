package coord

import "context"

// Latch is a queue of candidates, one of whom at a time holds the latch, in the
// order of their arrival. The queue lives in the store: candidates are ephemeral
// nodes below the latch's path. On ZooKeeper they are those of Curator's
// LeaderLatch (protected, sequential, prefix "latch-"), so that JVM members can
// stand in the same queue. Each candidate has a [View] of the queue: so a queue is for
// some hundred candidates, not for thousands.
type Latch interface {
	// Acquire adds a candidate to the queue and waits for its turn. If Acquire fails
	// it removes the candidate; if the store is away, the candidate goes when the
	// session ends. Each call adds a candidate of its own, also while the same
	// registry holds the latch or waits for it.
	//
	// Errors: the cause of ctx, ErrSessionLost if the session is lost on the way.
	Acquire(ctx context.Context) (Held, error)
}

// Held is a latch whose turn has come.
type Held interface {
	// Context ends when the latch can no longer be trusted. Its cause is
	// ErrSessionLost, ErrLatchLost if the candidate's node was removed,
	// ErrReleased, or ErrClosed.
	Context() context.Context

	// Token is the fencing token: larger than that of every earlier holder.
	Token() int64

	// Release ends Context and then leaves the queue, in this order: so nobody else
	// holds the latch while this context lives. A second Release does nothing.
	//
	// Errors: those of a commit; the candidate then goes when the session ends, at the
	// latest.
	Release(ctx context.Context) error
}
