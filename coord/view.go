package coord

import "context"

// View is a live local copy of a subtree. It heals by itself: reconnects, etcd
// compaction and missed deletions are reconciled, and it lives on when the session
// is lost. Its snapshots never go back, unless the store itself did (ErrRestored).
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

	// Fault is nil while the view is whole and follows the store, and says otherwise
	// what it lacks: nodes that may not be read, which snapshots leave out (ErrDenied,
	// with the path of one and how many there are), or that it cannot be read anew at
	// present (ErrDenied, ErrUnavailable), so that its snapshot may be old. The view
	// goes on trying. Changed is closed when it changes.
	Fault() error

	// Sync returns when the view holds everything that was committed, by anybody,
	// before the call.
	//
	// Errors: those of a read; Err if the view has ended.
	Sync(ctx context.Context) error

	// Err is nil while the view lives, and ErrClosed after Close of the view or of the
	// registry. Nothing else ends a view: what it cannot do at present is a Fault.
	Err() error

	// Close ends the view and waits for what it started. A second Close does nothing.
	Close()
}
