// Package zkserver runs real ZooKeeper servers for tests and examples: child
// processes from Debian's zookeeper package, each with a data folder and ports of its
// own, that start in well under a second.
//
// Nothing is left behind, also when the process that started a server is killed: a
// small shell, in a process group of its own, waits at the end of a pipe and then
// ends the server and removes its folder.
//
// What is not promised: durability. Unless Config.Fsync is set, a server does not wait
// for its disk, and a crash of the machine may lose what it acknowledged.
package zkserver
