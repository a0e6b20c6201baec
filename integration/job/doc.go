// Package job has nothing but tests: of what package job promises, by what a program sees.
//
// Most run in virtual time on the simulated store. Those that depend on the time of a store (sessions, elections,
// outages) run on etcd and ZooKeeper, too: see onEveryStore. They are in this module, because what a test of a package
// imports stands in the go.sum of whoever imports the package.
package job
