package coord

import (
	"context"
	"iter"
)

// Registry is one connection, one session and one namespace of a store. All
// methods may be called from any goroutine. Every call ends when its context does;
// an adapter also bounds each request by its own time-out. Paths are checked first:
// for an invalid one the error is [ErrInvalidPath], and nothing is sent.
//
// Errors that every method may return beside those it lists: [ErrUnavailable],
// [ErrDenied], [ErrClosed], and the cause of ctx.
type Registry interface {
	// Get reads one node from the store, not from a local copy: linearizable; on
	// ZooKeeper a sync and then a read. For a parent that nobody wrote it returns an
	// empty value.
	//
	// Errors: ErrNoNode.
	Get(ctx context.Context, path string) (Node, error)

	// GetAll reads some nodes, and yields for each path, in their order, what Get would return. It
	// takes few requests and holds what a few of them bring, for any number of paths: on etcd a
	// request reads up to 128 nodes. Nodes need not be of one moment. Each loop over the sequence
	// reads anew.
	GetAll(ctx context.Context, paths []string) iter.Seq2[Node, error]

	// List reads the children of a node from the store, like Get, in ascending
	// bytewise order of their names. "" is the root of the namespace, which always
	// exists. On ZooKeeper the values are read one by one: a child that is removed
	// meanwhile is left out.
	//
	// Errors: ErrNoNode.
	List(ctx context.Context, path string) ([]Node, error)

	// Walk reads a node and everything below it from the store, like Get, but page by page: it
	// holds a few pages, however large the subtree is. Nodes come in ascending bytewise order
	// of their paths, so parents come before their children: a, a-b, a/b. "" is the whole
	// namespace. The node need not exist: then nothing comes. A parent that nobody wrote may
	// be left out. Each loop over the sequence reads anew. Between two pages the loop may take
	// its time; ctx and the request time-out bound the reading of each page.
	//
	// On etcd and in memory all nodes are of one moment, that of the first page. On ZooKeeper
	// each node is as it was when it was read: what is created or removed meanwhile may be
	// missing or not.
	//
	// An error is the last that comes, with the zero Node. A walk does not begin again by
	// itself, because the caller has seen a part already.
	//
	// Errors: ErrCompacted; ErrDenied also if a single node may not be read.
	Walk(ctx context.Context, path string) iter.Seq2[Node, error]

	// Commit does all of ops or none, in one atomic step of the store, and returns
	// the step's store-wide number: the Modified of every node it wrote, and the
	// Created of every node it created. It is 0 for a commit that writes no value
	// (only conditions and removals). Of two commits that write the same node the later
	// one has the larger number. Two commits at the same time may have the same number, if
	// neither writes what the other one reads or writes.
	//
	// Conditions speak of the tree before the commit. See [ValidateCommit] for
	// what may stand together. If ctx was derived from the context of a session that
	// is now lost, the commit creates no ephemeral node in the session that follows.
	//
	// Errors: ErrConflict (a *ConflictError), ErrTooLarge, ErrUnknownOutcome,
	// ErrSessionLost (for an ephemeral node or an Owned condition while there is
	// no session), ErrInvalidCommit.
	Commit(ctx context.Context, ops ...Op) (revision int64, err error)

	// View opens a live local copy of a node and of what lies at most depth levels below it
	// ([AllLevels] for everything), and returns when it has been read once. "" is the root of
	// the namespace, so View(ctx, "", 1) shows which children the namespace has. The node need
	// not exist. ctx bounds the first read only. The caller closes the view.
	//
	// Nodes below the lowest level are not shown, and their changes wake nobody. But they make
	// their parents exist: a parent at the lowest level that nobody wrote is shown as if it had
	// been written, with an empty value. So [Snapshot.All] has it, too.
	//
	// What the view holds of values can be bounded, by one Bounds: for a namespace to which others write, too.
	//
	// Errors: ErrInvalidDepth for a depth of less than 1.
	View(ctx context.Context, path string, depth int, bounds ...Bounds) (View, error)

	// Session returns the current session. Between a lost session and the next it
	// waits, until ctx ends.
	Session(ctx context.Context) (Session, error)

	// Latch returns the latch whose candidates stand in a queue below path. It sends
	// nothing.
	//
	// Errors: only ErrInvalidPath.
	Latch(path string) (Latch, error)

	// Clock returns what is known about the store's clock. It sends nothing itself: from
	// the first call on the registry compares the clocks in the background, once in each
	// session and then every hour. ZooKeeper tells the time only as the time of a write, so
	// each comparison writes [ClockPath] there. etcd tells it in the Date header of its
	// client ports, in whole seconds. While the clocks differ by more than 2 s the registry
	// compares them more often, after 10 s first and then at longer intervals of up to a
	// minute: one of them may have been set right, or the reading was wrong. After an
	// attempt that failed it tries again, with a back-off of up to a minute; [Clock.Err]
	// tells its error.
	Clock() Clock

	// Close ends the session, so that its ephemeral nodes go at once, closes all
	// views, ends all contexts with ErrClosed, and waits for everything that the
	// registry started. ctx bounds only the requests to the store; nothing is left
	// running even if they fail. A second Close does nothing.
	Close(ctx context.Context) error
}
