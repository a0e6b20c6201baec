// Package etcd keeps the contract of package coord over etcd 3.5 and later.
//
// # Keys
//
// The node a/b of the namespace shop is the key "/shop/a/b", so etcdctl shows the tree as
// it is. An ephemeral node is a key on the session's lease. Parents that nobody wrote are
// no keys: they exist as long as something lies below them. The adapter keeps one key of
// its own for each session, "/shop//sessions/{lease}". No path can have its empty segment,
// so it never shows as a node. Deleting it ends the session; while the store still keeps its
// lease the cause is [coord.ErrSessionEnded]. On a server with roles the user needs to read and
// write the prefix "/shop/", and nothing else: the range from "/shop/" to "/shop0". A user who
// may only read it can read, but has no such key. Package rights knows narrower roles.
//
// [Registry.Concurrency] offers the session to the Mutex, Election and STM of etcd's own package
// concurrency, which then end with it. A latch and a Mutex of one path stand in one queue: their
// keys are "{path}/{lease}-{number}" and "{path}/{lease}", and the lowest CreateRevision holds it.
//
// # Traffic
//
// A registry has one connection for each endpoint, one lease, one keep-alive stream and
// one watch stream that all its views and latches share. A second watch stream is open while
// programs watch or wait in a concurrency session. An idle registry sends a
// keep-alive at each third of its session time-out. After the first use of
// [Registry.Clock] it also asks all endpoints for the time, once in each session and once
// an hour. It sends nothing else, however many views are open. While others write to the
// store, one progress request on the watch stream follows each keep-alive, and is repeated
// until it is answered; one answer counts for all views.
//
// [coord.View.Sync] is one small read if the view is up to date. If not, it asks for
// progress, too. All who wait share the answers, which are asked for more seldom the more
// watches there are: with 10,000 every 12 ms.
//
// To open a view takes a message on the stream and one read, for a small subtree. At most
// 64 watches are asked for and 32 subtrees read at a time; others wait for their turn as
// long as their callers do. An open view has no goroutine. When the stream breaks, another
// one takes over all watches from where they were, and no view is read for that.
//
// A commit that finds fewer than 4 requests of commits in flight goes at once. What is
// committed while there are 4 waits, and goes in groups of up to 48: each commit is a nested
// transaction, which succeeds or fails for itself, and all of them have one revision. No
// commit is in a group with another one that writes what it reads or writes. The
// engine's most urgent ones go first, and the oldest with each request. What waits
// for longer than the request time-out fails with [coord.ErrUnavailable]; it was not sent. If a
// server refuses a group for what is in it, the group is divided, so that only the commit
// that is to blame fails. A place in the queue of a latch is never part of a group.
//
// A view of the upper levels ([Registry.View]) reads and watches the keys of the whole
// subtree. It keeps the nodes that it shows, and one number for each parent at the lowest
// level. [Registry.List] reads hardly any of what lies below the children: a request reads the next child of up to
// 128 sections of the range, so that 1,000 children with subtrees take some 25 requests. [Registry.GetAll] reads up
// to 128 nodes in a request. [Registry.Walk] reads pages of about 4 MB, and of 16 MiB at most, all at one revision. If the store
// compacts that revision meanwhile, the walk ends with [coord.ErrCompacted].
//
// A view watches one range of keys. Beside its subtree that range has some siblings:
// those whose names go on with a character that sorts before the slash, such as jobs-2
// and jobs.old for the view of jobs. Their events are received and dropped.
//
// # Versions and revisions
//
// [coord.Node.Version] is the key's ModRevision. It never repeats in one store, which
// is more than the contract promises.
//
// # Pauses of the store
//
// A session is renewed at each third of its time-out, and ends a tenth of the time-out, at
// least 200 ms, before the store would drop it. So a session survives a pause of the store
// that is shorter than 0.57 of the time-out, and is lost by one that is longer than 0.9 of
// it. In between it depends on when the pause begins: just before a renewal or just after.
// With the default of 10 s these are 5.7 s and 9 s, less the time to connect again, which
// is up to a second.
//
// The nodes of a lost session stay until its time-out has passed. Then the registry removes
// them, if the store has not: after a time without a leader a store gives all leases their
// whole time again.
//
// # Stores that were put back
//
// A store is another store after it was restored from a snapshot, wiped, set back to older
// data, or replaced at the same address. A registry notices another cluster id, and an
// answer whose revision is lower than one that it knew before it sent the request; two
// linearizable reads confirm that. But the store may have grown beyond the known revision
// before the registry hears from it again. Therefore views are read again after each new
// connection and each election: at once by [coord.View.Sync], otherwise within some
// seconds (20 views a second). A node that then has another value than it had up to the
// known revision is proof too. If only other nodes have changed, the registry notices
// nothing, and its views are right.
//
// With that proof the session ends with a cause that matches [coord.ErrRestored], all views
// are read again, and a new session begins. Nodes of the old session that the store has
// again stay until the old session's time-out. Revisions repeat, and so do versions and the
// tokens of latches, unless the store was restored with --bump-revision.
//
// # Faults of views
//
// Only Close ends a view. It has a [coord.View.Fault] when it may not be read again, when
// it cannot be read for longer than the request time-out, and when its watch brings
// nothing for that long although the store's revision has grown.
//
// All views have a fault when the store does not answer. A watch of a quiet range tells nothing,
// so the answers to everything else count: to the renewals of the session, which every registry has,
// to requests, and what any watch brings. The fault begins 0.8 s after a renewal has failed,
// if there was no answer since; at the latest when the session ends, a tenth of its time-out before
// the store drops it. With the first answer after that one small read tells the revision that views
// have to reach; then their faults are over.
//
// A watch stream is silent when nothing at all comes on it for the request time-out though
// something was asked: watches, or progress after a keep-alive or in a Sync. Then another
// stream takes over. That a store is slow with many watches is no silence. A stream also has
// to say, within twice the request time-out, that it has brought everything, which it does
// not while one of its watches is stuck at the server. If it does not another one takes over,
// which gets twice that time, and so on up to 32 times the request time-out. A denied view
// tries again within a second at first, and every 2.5 to 7.5 s later.
//
// # Clocks
//
// etcd's API never tells the time. But its client port also answers HTTP, where the Date
// header has whole seconds. [Registry.Clock] is exact to half a second plus half the time
// of the answer. It takes the median of all endpoints, so one server of three with a wrong
// clock changes nothing. A port that answers no HTTP, such as that of a server with
// --listen-client-http-urls, has no clock.
//
// # Servers
//
// [Dial] refuses servers before 3.5 with [coord.ErrUnsupported], unless
// [Config.AllowOldServers] is set. Servers before 3.5.33, 3.6.14 and 3.7.1 have defects in
// watches, leases and reads that can break these promises. The log warns of them.
//
// An etcd server keeps its whole history unless it is told to compact it, with
// --auto-compaction-retention. When its quota is full it takes no more writes: commits
// fail with [coord.ErrUnavailable], whose text says that the database space is exceeded.
// [Dial] warns of a server that seems to keep its history when 256 MiB of its database are in
// use. [Registry.Facts] tells what the servers say of themselves.
//
// # What is not promised
//
// Everything that package coord does not promise. Time-outs are measured by the machine's
// monotonic clock, which on Linux stands still while the machine is suspended. A machine
// that was suspended for longer than its session time-out learns from the store that the
// session is lost, not from its own clock.
//
// That the store keeps a session until its time-out. A member that was stopped for a while
// as it led, by a signal or with its machine, may take itself for the leader for a moment
// when it goes on, and revoke leases that others have renewed meanwhile (etcd issue 15247;
// its mend skips the check as soon as the member's own clock ticks). The session is lost
// then some milliseconds after its nodes. Fencing tokens are for that, too.
package etcd
