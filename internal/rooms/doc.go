// Package rooms holds the rules about what may import what: between our packages, and
// from other modules. It has nothing but tests.
//
// # Modules
//
// The root is what a program imports: coord, job, strategy, ops and what they stand on. Its
// go.mod requires what these compile and what their tests need, and nothing else, because it raises
// the versions of whoever imports it, and the modules that the tests of an imported package need stand
// in his go.sum. So tests on an etcd start etcd's program as a process, which the go command builds
// from the module internal/embedetcd.
//
// What brings modules that job and coord do not compile (console, command, databases, metrics,
// browser tests), and what nobody imports (examples, integration), is a module of its own. The
// go.work at the root joins them, and says that the versions that they require of each other
// are these folders; the Makefile lists them, and tests and lints each. The root's go.mod never
// requires them. The tests here pin what an importer compiles, and what the root requires, with
// the reason; integration/install bounds what an importer has in his go.sum.
package rooms
