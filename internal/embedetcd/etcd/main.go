//go:build unix

// Command etcd is etcd's own server, as a process that tests can kill, stop by a signal, and deny the disk.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	// A write beyond the limit of the size of files must fail as on a full disk, not end the process.
	signal.Ignore(syscall.SIGXFSZ)
	etcdmain.Main(os.Args)
}
