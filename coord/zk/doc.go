// Package zk keeps the contract of [coord] on a ZooKeeper ensemble, version 3.5 or
// later, through the client library github.com/go-zookeeper/zk.
//
// # Layout
//
// The node a/b of the namespace jobs is /jobs/a/b. A parent that nobody wrote is a node
// with an empty value, and stays when its last child goes. With [Config.Digest] every
// node, also of the namespace and its parents, is created for that user alone.
//
// # Connections
//
// A registry has one connection, whose session owns the ephemeral nodes, and a second
// while views or latches are open, on which they watch: watches cannot be taken back,
// so they are thrown away with their connection. It has a session of its own, without
// any node. While a connection is replaced there may be one more for a moment. Servers
// refuse more than maxClientCnxns connections from one address, 60 unless configured: so
// the processes behind one address, such as those of one host, or behind one NAT, have to
// be fewer than half of that, or the limit higher.
//
// The client library renews sessions behind the scenes, but does not say when that
// succeeded, and opens a new session by itself when one has expired. A [Registry]
// renews its session by a request that the leader of the ensemble has to answer, ends
// it by its own clock, and never lets a request of one session run in another.
//
// The session is renewed at each third of its time-out, and ends a tenth of it, at least
// 200 ms, before the store may drop it. So a pause of the store, or of the way there, is
// survived if it is shorter than about 57 % of the time-out, and kills the session if it is
// longer than 90 %; in between it depends on when it began. For the default of 10 s that
// is 5.7 s and 9 s.
//
// # A store that was put back
//
// The zxids of a store only grow. A registry whose new connection finds a smaller one
// than it has seen, or a node with an earlier change than it has shown, knows that the
// store was put back to an earlier state, or is another one. It ends its session with
// [coord.ErrRestored], opens another, and views show what is there now. Until it has such
// proof, the servers refuse the old session, which then ends by its own clock; the next
// one finds the proof. An empty store that others have written more than the old one ever
// had gives none: there the session is unknown, and just lost.
//
// # What views leave out
//
// Nodes may have permissions of their own. A view leaves out those that it may not read,
// with all below them, and says so by Fault. It tries them again about twice a minute,
// and when the list changes that they stand in: ZooKeeper does not tell when permissions
// change.
//
// # What is not promised
//
// A server that has lost its leader, and is cut off from the client at the same moment,
// may have failed to pass on the last sign of life; the leader then counts the session
// from up to half of its tick earlier than the registry does. The margin of a session's
// deadline covers that while the time-out is at least five ticks.
//
// Get and List wait until the server they ask has caught up with the leader (ZooKeeper's
// sync). A leader that was just replaced and does not know it yet may answer too.
//
// A view shows states that the store had. It has to read them node by node, though, and
// when the tree changes without a pause for a second, or while [coord.View] Sync is
// waited for, it shows what it has: there, a commit may show in parts, or without an
// earlier one. So it does when a node gets more than 1,000 children at once: they show in
// slices, and other news between them. Sync waits for all of them.
//
// The condition [coord.Owned] is read before the commit, and the commit then relies on
// the node's version: a node that is removed and made again by another session in
// between, with as many writes, passes for one's own.
//
// A commit may be refused with [coord.ErrTooLarge] below [coord.MaxCommitBytes] if it
// needs many parents, or removes large trees: servers take 1 MiB in one request, unless
// jute.maxbuffer is lower there, which cannot be seen from here: such a server closes
// the connection, and the outcome is reported as unknown.
package zk
