package coord

import "context"

// View is a live local copy of a subtree. It heals by itself: reconnects, etcd
// compaction and missed deletions are reconciled, and it lives on when the session
// is lost. Its snapshots never go back.
type View interface {
	// Snapshot returns the newest state that the view has. It is immutable and
	// costs nothing to take or keep.
	Snapshot() Snapshot

	// Changed returns a channel that is closed once there is a newer state than the
	// one that Snapshot returned when Changed was called, or the view has ended.
	// So take the channel first, then the snapshot, then wait:
	//
	//	for {
	//		changed := view.Changed()
	//		decide(view.Snapshot())
	//		select {
	//		case <-changed:
	//		case <-ctx.Done():
	//			return
	//		}
	//	}
	Changed() <-chan struct{}

	// Sync returns when the view holds everything that was committed, by anybody,
	// before the call.
	//
	// Errors: those of a read; Err if the view has ended.
	Sync(ctx context.Context) error

	// Err is nil while the view lives, and then says why it ended: ErrClosed, or
	// an error that it cannot heal, such as ErrDenied.
	Err() error

	// Close ends the view and waits for what it started. A second Close does nothing.
	Close()
}
