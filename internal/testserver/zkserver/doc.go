// Package zkserver runs real ZooKeeper servers for tests and examples. They are child
// processes that run Debian's zookeeper package, or the release in the folder that the
// environment variable ZOOKEEPER names, each with a data folder and ports of its own. They
// start in well under a second.
//
// They leave nothing behind, even if the process that started them is killed: a small
// shell in a process group of its own reads from a pipe. When the pipe ends, it kills the
// server and removes its folder.
//
// Not promised: durability. Unless Config.Fsync is set, a server does not wait for its disk,
// and a crash of the machine may lose writes that it has acknowledged.
package zkserver
