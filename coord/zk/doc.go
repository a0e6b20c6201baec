// Package zk keeps the contract of [coord] on a ZooKeeper ensemble, version 3.5 or
// later, through the client library github.com/go-zookeeper/zk.
//
// # Layout
//
// The node a/b of the namespace jobs is /jobs/a/b. A parent that nobody wrote is a node
// with an empty value, and stays when its last child goes. With [Config.Digest] every
// node, also of the namespace and its parents, is created for that user, and for those in
// [Config.Grants].
//
// # Connections
//
// A registry has one connection, whose session owns the ephemeral nodes. While views or
// latches are open it has a second one, on which they watch: the client library cannot
// remove a watch, so watches go with their connection. The second connection has a session
// of its own, without nodes. While a connection is replaced there may be one more for a
// moment. Servers refuse more than maxClientCnxns connections from one address, by default
// 60. So there must be fewer than half as many processes behind one address, such as that
// of a host or a NAT, or the limit must be higher.
//
// The client library renews sessions by itself, but does not say when that succeeded, and
// it opens a new session by itself when one has expired. A [Registry] renews its session by
// a request that the leader of the ensemble has to answer, ends it by the local clock, and
// never sends a request of one session in another.
//
// The session is renewed at each third of its time-out, and ends a tenth of the time-out, at
// least 200 ms, before the store may drop it. So a session survives a pause of the store or
// of the network that is shorter than about 57 % of the time-out, and is lost by one that is
// longer than 90 % of it. In between it depends on when the pause begins. With the default
// of 10 s these are 5.7 s and 9 s.
//
// # Requests in flight
//
// Each commit is a request of its own: ZooKeeper does all operations of a multi or none, so
// several commits cannot share one. Up to 1,024 requests are in flight on a connection, in
// the order in which they were sent, and others wait. So the servers' log bounds how many
// commits there are in a second, and not the time of an answer.
//
// # Facts
//
// [Registry.Facts] asks each server for its version on a connection of its own, by the four-letter
// word srvr. Nothing else sends such a word.
//
// # A store that was put back
//
// The zxids of a store only grow. If a new connection brings a smaller zxid than the
// registry has seen, or a node with an earlier change than it has shown, the store was put
// back to an earlier state, or is another one. With this proof the session ends with
// [coord.ErrRestored], a new one begins, and views show what is there now. Mostly the
// servers refuse the old session first. Then it ends by the local clock, and the connection
// of the next session finds the proof. There is no proof if others have already written
// more to an empty new store than the old one ever had: there the session is just lost.
//
// # What views leave out
//
// Nodes may have permissions of their own. A view leaves out nodes that it may not read,
// with everything below them, and its Fault says so. It tries them again about twice a
// minute, because ZooKeeper does not tell when permissions change, and when their parent's
// list of children changes.
//
// # A store that does not answer
//
// All views have a fault when the store does not answer: 0.8 s after the session's link has
// broken, or a renewal of the session has got no answer, if there was none since; at the latest when
// the session ends. What counts as an answer is that to a renewal, to a sync, and a watch that fires.
// A server that has lost its leader answers reads and pings, which therefore do not count. When the
// store answers again each view catches up by a sync, or is read again on a new connection; then its
// fault is over.
//
// # What views and walks cost
//
// A view has a watch on the value of each node that it shows, and one on the list of children
// of each persistent node. A view of the upper levels ([Registry.View]) has no watch on
// the lists of the lowest level, and reads nothing below it.
//
// [Registry.Walk] reads each node by itself, 128 at once: one request for a node without
// children, two for others. It holds the names of all children of a node, because
// ZooKeeper gives them in one answer, and the values of at most 128 nodes of each level.
// Each node is as it was when it was read.
//
// # What is not promised
//
// If a server loses its leader and its client at the same moment, it may not have passed on
// the client's last renewal. Then the leader counts the session's time from up to half of
// its tick earlier than the registry does. The margin of a session's deadline covers that
// if the time-out is at least five ticks.
//
// Get and List wait until their server has caught up with the leader (ZooKeeper's sync). A
// leader that was just replaced, and does not know that yet, may also answer.
//
// A view shows states that the store had. But it has to read them node by node. If the tree
// changes without a pause for more than a second, or if somebody waits for Sync, the view
// shows what it has. Then a commit may show in parts, or without an earlier one. The same
// holds if a node gets more than 1,000 children at once: they show in slices, with other
// news in between. Sync waits for all of them.
//
// ZooKeeper cannot check the condition [coord.Owned] in a commit. So the registry reads the
// owner first, and the commit checks the node's version. If another session removes the
// node in between, creates it again and writes it as often, the condition holds although
// it should not.
//
// A commit may be refused with [coord.ErrTooLarge] below [coord.MaxCommitBytes] if it
// creates many parents or removes large trees: servers take 1 MiB in one request. If
// jute.maxbuffer is lower on a server, the registry cannot know that: the server closes the
// connection, and the outcome is reported as unknown.
package zk
