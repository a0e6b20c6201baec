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
// any node. Servers that limit the connections of a client (maxClientCnxns) see two.
//
// The client library renews sessions behind the scenes, but does not say when that
// succeeded, and opens a new session by itself when one has expired. A [Registry]
// renews its session by a request that the leader of the ensemble has to answer, ends
// it by its own clock, and never lets a request of one session run in another.
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
// earlier one.
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
