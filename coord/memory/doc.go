// Package memory keeps the contract of coord with a simulated store, for tests and
// for programs that run alone.
//
// A [Store] is the simulated server, and [Store.Dial] opens registries on it.
// Nothing here does input or output, sleeps, or polls: all waiting is on channels
// and timers. So everything runs under testing/synctest, where a day of session
// time-outs passes in no time.
//
// Where stores differ the simulated one behaves like ZooKeeper, which is stricter:
// parents are made as empty persistent nodes and stay, versions count from zero again
// when a node is created again, and nothing can be created below an ephemeral node.
//
// A walk shows one moment, as on etcd, and fails page by page.
//
// # Faults
//
// A [Link] stands between a registry and the store; its methods break it in the ways
// in which a network breaks. [Store.Inject] makes chosen calls fail, before or after
// they are carried out: the choice is by method, operation, path and registry.
// [Store.Expire] ends a session, [Store.Down] takes the whole service away, and
// [Store.Restore] puts the store back to an earlier state.
//
// # What is not promised
//
// Nothing is kept when the process ends. A healthy session sends no renewals: it
// counts as renewed at every third of its time-out. So a process that is paused never
// loses its session. Faults come exactly when they are set and as they are set; those
// of a network do not.
package memory
