// Package trees checks that this version goes on with the trees that released versions have written. It has nothing but
// tests.
//
// testdata has two files for each minor version, v0.1.0.txt and v0.1.0.json. The first one is a namespace with all its
// nodes, in the middle of much: runs that were cut short, requests, a pause, a kill, pins, a process that has died. The second
// one is what that version's own package ops said of it. [TestTrees] puts each tree into an empty store, compares what is
// said of it today, and has workers go on with it.
//
// [TestShape] compares the kinds of nodes and the keys of documents that this code writes with those in the newest file, so
// that a change of the tree is seen when it is made. The newest file is that of the first heading of CHANGELOG.md:
//
//	go test ./integration/trees -run TestShape -update
//
// writes it, as long as that version is not released. docs/reference/compatibility.md says what may change.
package trees
