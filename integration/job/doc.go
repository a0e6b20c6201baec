// Package job has nothing but tests: of what package job promises, by what a program sees. What one decision does to the
// tree is told in internal/decide, how executions end in internal/engine/exec, and what operators may do in ops. They are
// in this module, because what a test of a package imports stands in the go.sum of whoever imports the package.
//
// They run in virtual time on the simulator, which coord/coordtest holds equal to the adapters: see inVirtualTime. A test
// runs on etcd and ZooKeeper, too (onEveryStore), only if it may fail there although it passes on the simulator, because
// it depends on what the store or its client makes of
//
//   - a session that is suspended, that ends, or whose process comes back,
//   - the order in which watches show commits of several clients, or an ephemeral node that another one replaces,
//   - commits that meet, and the limits of one commit (ZooKeeper's multi, operations and bytes of a transaction),
//   - a tree that is removed while views follow it,
//   - a start while the store is away,
//   - nodes that only another client can write, below ephemeral ones (onEtcd, if only etcd takes them).
//
// One test of each of these is enough: variants of it (who crashes, what is killed, what runs then) are in virtual time.
package job
