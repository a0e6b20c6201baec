// Package memory keeps the contract of coord with a simulated store, for tests and
// for programs that run alone.
//
// A [Store] is the simulated server, and [Store.Dial] opens registries on it.
// Nothing here does input or output, sleeps, or polls: all waiting is on channels
// and timers, so that everything runs under testing/synctest, where a day of
// session time-outs passes in no time.
//
// Where stores differ the simulator takes ZooKeeper's side, which is the stricter
// one: parents are made as empty persistent nodes and stay, versions count from
// zero in each life of a node, and nothing can be created below an ephemeral node.
//
// # Faults
//
// A [Link] stands between a registry and the store; [Registry.Link] breaks it in
// the ways that a network has. [Store.Inject] makes chosen calls fail, chosen by
// what they do and to which path: before they reach the store, after, or later.
// [Store.Expire] ends a session, [Store.Down] the whole service, and [Store.Restore] puts
// the store back to where it was.
//
// # What is not promised
//
// Nothing is kept when the process ends. A healthy session is not renewed by
// messages but is taken as renewed every third of its time-out, so a process that
// is paused never loses one. Faults are exact and fair; a network is neither.
package memory
