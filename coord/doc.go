// Package coord is the registry centre: a tree of small nodes with atomic
// conditional commits, live views, a session that knows when it can no longer
// be trusted, and leader latches. It is a contract, not a store: the packages
// below it keep this contract over etcd, over ZooKeeper, and in memory. Package
// coordtest tests each of them against it.
//
// # The shape
//
// A [Registry] is one connection, one session and one namespace. A program reads
// with [Registry.Get], [Registry.GetAll], [Registry.List] and [Registry.Walk], follows a subtree, or its
// upper levels, with [Registry.View], and changes the tree with [Registry.Commit] only: any number
// of operations and conditions that happen together or not at all. Callers are
// meant to decide on a snapshot, and to commit the decision under the conditions
// that it was based on:
//
//	view ──snapshot──► decide ──ops + conditions──► Commit ──► done
//	 ▲                                                │
//	 └──────────────── Sync, look again ◄── ErrConflict, ErrUnknownOutcome
//
// # The session
//
//	      renewal succeeds
//	     ┌───────────────┐
//	     ▼               │
//	connected ──► suspended ──► lost ──► a new Session (connected)
//	     │        no renewal    deadline passed, or the
//	     └──────────────────►   store says that it is gone
//
// While a session is connected its ephemeral nodes exist. It becomes suspended
// when a renewal fails, and lost when its deadline passes. The deadline is
// counted from just before the last successful renewal was sent, less a margin,
// so it lies before the moment at which the store can drop the ephemeral nodes.
// A lost session never comes back; the registry opens a new one by itself.
//
// # A store that is away
//
// A view shows what it had while the store cannot be reached, and says so: it has a [View.Fault]
// at most one session time-out after the last answer of the store, a *[StaleError] with the time
// since when what it shows may be old. It needs no request of its own for that, because the session
// is renewed anyway.
//
// # Values of nodes that nobody wrote
//
// Parents are never a caller's concern. A parent that was not written itself
// exists, with an empty value, as long as anything lies below it. Whether it
// outlives its last descendant is up to the store (ZooKeeper keeps it, etcd does
// not), and so is whether [Create] conflicts there: [Put] a node that may already
// be a parent.
//
// # What is not promised
//
// Versions may repeat: ZooKeeper counts from zero again when a node is removed and
// created again. So [AtVersion] cannot tell the old node from the new one. Put the
// condition on a node that is never removed, or compare [Node.Created] and
// [Node.Modified], which only grow.
//
// Mutual exclusion is not promised against a process that ignores its context: the
// session's time is measured on two machines. The token of a [Held] latch grows from
// holder to holder, and the revision of a commit from one that writes a node to the next
// that writes it, so that another system can refuse the older holder (fencing). Tokens of
// different latches, and commits to different nodes, may be equal: the other system has to
// keep them apart. They start low again when etcd is restored from a snapshot
// without --bump-revision, and with a new ZooKeeper ensemble.
//
// A view is not an event log: it may skip states that last only a short time, but it
// never shows states out of order. On ZooKeeper, whose watches are per node, a
// snapshot may show only a part of a commit while the view still reads what changed;
// after [View.Sync] it holds all of it.
//
// # A new store
//
// An adapter implements [Registry], with [View], [Session], [Latch] and [Held]. It fills a [Tree] for
// its snapshots and a [Clock] with [NewClock], checks arguments with [ValidatePath], [ValidateRoot],
// [ValidateDepth] and [ValidateCommit], and wraps the errors of this package. Optional is only
// [Inspector], which ops/doctor and trace/prom find by a type assertion.
//
// Whatever the store offers by itself, the adapter has to keep this:
//
//   - A commit is atomic: its conditions hold at the same step at which it writes. ErrConflict and
//     ErrUnavailable mean that nothing was written, ErrUnknownOutcome that nobody knows.
//   - Get, GetAll, List and Walk see every commit that ended before the call (linearizable).
//   - The Modified of a node grows with each write, also over a removal.
//   - The snapshots of a view never go back. They have everything from before a [View.Sync]. A view
//     outlives broken connections, lost sessions and compaction, and has a [View.Fault] meanwhile.
//   - The context of a session ends before the store removes the session's nodes. Under that context
//     nothing ephemeral is created in a later session.
//   - A latch is held by one candidate at a time, in the order of arrival, with growing tokens.
//   - Every wait is bounded by a context, and Close waits for every goroutine.
//
// The proof is package coordtest. Run takes a Factory of a Store, which dials registries over links
// that the suite breaks, ends sessions, and counts what the server holds. RunOutages takes a
// factory of a Server, which is a Store that can be killed and stopped as well, and is not shared
// with other tests. One type serves both: see coord/zk/store_test.go. RunCommits is the part of Run
// for an adapter with a second way to send commits. Benchmark compares adapters.
//
// In this module an adapter has its session from coord/internal/lifetime, wakes those who wait with
// coord/internal/broadcast, notices outages with internal/liveness, and compares clocks with
// internal/storeclock.
//
// Package job takes any Registry. These packages know stores by their names: jobfile (document.go,
// connect.go, check.go), cmd/elasticjob/internal/target, console/connection (Kind), ops/rights,
// integration/worker, and internal/rooms, which says who may import an adapter.
package coord
