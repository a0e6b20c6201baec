// Package etcd keeps the contract of package coord over etcd 3.5 and later.
//
// # Keys
//
// The node a/b of the namespace shop is the key "/shop/a/b", so that etcdctl shows the
// tree as it is. An ephemeral node is a key on the session's lease. Parents that nobody
// wrote are no keys: they exist as long as something lies below them. The adapter keeps
// one key of its own for each session, "/shop//sessions/{lease}", with an empty segment
// that no path can have, so it never shows; deleting it ends the session. A user of a
// server with roles needs to read and write the prefix "/shop/", and to read it up to
// its end ("/shop0"), nothing else.
//
// # Traffic
//
// A registry has one connection for each endpoint, one lease, one keep-alive stream and
// one watch stream that all its views and latches share. An idle registry sends a
// keep-alive each third of its session time-out and, once in each session and once an
// hour, asks all endpoints for the time, and nothing else, however many views are open.
// While others write to the store, each keep-alive is followed by at most one question
// about the progress of the watch stream, whose answer all views share.
//
// [coord.View.Sync] is one small read if the view is up to date, and else one more
// question, which all who wait for its answer share.
//
// A view watches one range of keys. Beside its subtree that range has the siblings whose
// names go on with a character below the slash, such as jobs-2 and jobs.old for the view
// of jobs: their events are received, and dropped.
//
// # Versions and revisions
//
// [coord.Node.Version] is the key's ModRevision. It never repeats in one store, which
// is more than the contract asks for.
//
// # Silence that is tolerated
//
// A session is renewed each third of its time-out, and ends a tenth of it, at least
// 200 ms, before the store would drop it. So a store that answers nobody for a time
// costs a session when the silence is longer than between 0.57 and 0.9 of the time-out,
// as it begins just before or just after a renewal: between 5.7 and 9 s with the preset
// of 10 s, less what it takes to connect again, which is up to a second.
//
// The nodes of a session that is lost stay until its time-out, and are removed then also
// if the store has given all leases their whole time again, as it does after it was
// without a leader.
//
// # Stores that were put back
//
// A store that is given the data of an earlier moment, restored from a snapshot, wiped,
// or replaced at the same address, is another store. A registry knows it by another
// cluster id, or by an answer whose revision is lower than one that it had seen before it
// asked; both are confirmed by two linearizable reads. The store may also have grown
// beyond the known revision before the registry hears of it again. Therefore views are
// read again after each new connection and each election, at once by [coord.View.Sync] and
// else within some seconds (20 views a second), and a node that has another value than it
// had at that revision is proof too. If only other nodes were written since, nothing is
// to be noticed, and nothing is wrong with what the view shows.
//
// With the proof the session ends, its cause matches [coord.ErrRestored], all views are
// read anew, and a new session begins. Nodes of the old session that the store has again
// stay until the old session's time-out. Revisions, and with them versions and the
// tokens of latches, repeat, unless the store was restored with --bump-revision.
//
// # Faults of views
//
// A view ends by Close only. A denial while it is read again, a store that cannot be read
// for longer than the request time-out, and a watch that brings nothing for that long
// though the store has moved on, are its [coord.View.Fault]. A silent watch is begun
// again on another stream. It is looked after at each keep-alive and by Sync. What is
// denied is tried again every 2.5 to 7.5 s.
//
// # Clocks
//
// etcd's API never tells the time. Its client port also answers HTTP, where the Date
// header has whole seconds: [Registry.Clock] is good to half a second and half the time of
// the answer. It takes the median of all endpoints, so one server with a wrong clock
// moves nothing where there are three. A port that answers no HTTP, such as that of
// a server with --listen-client-http-urls, has no clock.
//
// # Servers
//
// [Dial] refuses servers before 3.5 with [coord.ErrUnsupported], unless
// [Config.AllowOldServers] is set. Servers before 3.5.33, 3.6.14 and 3.7.1 have defects in
// watches, leases and reads that can break these promises; Dial warns about them.
//
// An etcd server keeps its whole history unless it is told to compact it, with
// --auto-compaction-retention, and takes no more writes when its quota is full. Dial warns
// of a server that seems to do so. Commits fail with [coord.ErrUnavailable] then, whose
// text says that the database space is exceeded.
//
// # What is not promised
//
// Everything that package coord does not promise. Time-outs are counted by the machine's
// monotonic clock, which on Linux stands still while the machine is suspended: a machine
// that was suspended for longer than its session learns from the store that the session
// is lost, not from its own clock.
package etcd
