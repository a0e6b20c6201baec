package coord

import "context"

// View is a live local copy of a subtree, or of its upper levels. It repairs itself after broken connections
// and etcd compactions, and it goes on when the session is lost. Its snapshots never go
// back to an earlier state, unless the store itself did (ErrRestored).
type View interface {
	// Snapshot returns the newest state that the view has, in constant time. It is
	// immutable. Whoever keeps the one before learns from [Snapshot.Diff] what has changed
	// since, without a look at the rest.
	Snapshot() Snapshot

	// Changed returns a channel that is closed when the view gets a state newer than
	// the one that it had when Changed was called, when Fault changes, and when the
	// view ends. So take the channel first, then the snapshot, then wait:
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

	// Fault is nil while the view is whole and follows the store. Otherwise it says
	// what is wrong: nodes may not be read, so snapshots leave them out (ErrDenied,
	// with the path of one and how many there are), or the view cannot follow the
	// store at present, so its snapshot may be old (ErrDenied, ErrUnavailable): then it
	// is a *[StaleError], which says since when. The view goes on trying.
	//
	// A store that does not answer is a fault at most one session time-out after its last
	// answer, and at most a second after the session became [Suspended] or was lost, if
	// there was no answer since. While the store answers it is none. The fault is over
	// when the view shows what the store has after the outage.
	Fault() error

	// Sync returns when the view holds everything that was committed, by anybody,
	// before the call.
	//
	// Errors: those of a read; Err if the view has ended.
	Sync(ctx context.Context) error

	// Err is nil until the view ends, and ErrClosed after Close of the view or of the
	// registry. Nothing else ends a view: if it cannot be read, that is a Fault.
	Err() error

	// Close ends the view and waits for what it started. A second Close does nothing.
	Close()
}
