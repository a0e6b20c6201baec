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
// keep-alive each third of its session time-out and nothing else, however many views are
// open. While others write to the store, each keep-alive is followed by at most one
// question about the progress of the watch stream, whose answer all views share.
//
// A view watches one range of keys. Beside its subtree that range has the siblings whose
// names go on with a character below the slash, such as jobs-2 and jobs.old for the view
// of jobs: their events are received, and dropped.
//
// # Versions and revisions
//
// [coord.Node.Version] is the key's ModRevision. It never repeats, which is more than
// the contract asks for.
//
// # What is not promised
//
// Everything that package coord does not promise. Time-outs are counted by the machine's
// monotonic clock, which on Linux stands still while the machine is suspended: a machine
// that was suspended for longer than its session learns from the store that the session
// is lost, not from its own clock.
//
// Servers before 3.5.33, 3.6.14 and 3.7.1 have defects in watches, leases and reads that
// break these promises; [Dial] warns about them.
package etcd
