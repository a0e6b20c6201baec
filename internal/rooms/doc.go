// Package rooms holds the rules about what may import what: between our packages, and
// from other modules. It has nothing but tests.
//
// # Modules
//
// The core (coord, job, strategy and what they stand on) and its tests are one module. A
// program that imports job and coord/etcd gets in its go.mod only the modules that these
// compile, because the go command leaves out what no package of that program needs; so
// the test servers cost it nothing there. They do count where that program uses one of
// the same modules itself: then it gets our version, if that is the newer one.
//
// What brings modules that job and coord do not compile, and is no test of them (console,
// command, databases, browser tests), is a module of its own folder with its own go.mod:
// trace/sqltrace and examples/orders have databases. The go.work at the root joins them, so that go run finds
// them all; the Makefile lists them, and tests and lints each. The root's go.mod never
// requires them. Who builds or tests the root's packages gets none of their code, only their
// go.mod files. The tests here pin what an importer gets, and what the root requires, with
// the reason.
package rooms
