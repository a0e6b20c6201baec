// Command quickstart shows a sharded cron job at work, with nothing else installed:
//
//	go run ./examples/quickstart
//
// It starts etcd within itself and three instances of the job as processes of their own, which share the files below a
// folder: each item hashes and counts its part of them. While they work it kills one with SIGKILL in mid-item, lets one
// leave gracefully and one join, and draws a row for each tick: who ran which item. In the end it checks that every tick
// of every item ran once, that what was cut short was run again, and that the counts are those of one process alone.
//
// What a program of your own needs is in worker.go. The show is in show.go; crew.go has the processes, record.go what
// they ran and what is asked of that, and files.go the work.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	items          = 8
	every          = 2 * time.Second // the job fires
	atLeast        = time.Second     // an item takes, so that people can watch
	sessionTimeout = 2 * time.Second // a killed instance seems alive; most programs should use the default
	patience       = time.Minute     // the show waits for what has to happen
	zookeeper      = "zookeeper"     // a store; the other one is etcd
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("quickstart: ")
	s, err := parse(os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	if s.isWorker {
		followShow(os.Stdin)
		err = work(s)
	} else {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
		err = show(ctx, s, os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// followShow makes a worker end when the show does, however that ends: its standard input is a pipe of the show's.
// Ctrl-C reaches all processes of a terminal, but the show decides what to do about it.
func followShow(in io.Reader) {
	signal.Ignore(os.Interrupt)
	go func() { // lives as long as the process
		_, _ = io.Copy(io.Discard, in)
		os.Exit(1)
	}()
}

// settings are what the command line says. The show starts its workers with the same flags.
type settings struct {
	dir, store, servers, job string
	isWorker                 bool
}

// parse reads the command line. It exits after -h and after an unknown flag.
func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("quickstart", flag.ExitOnError)
	flags.StringVar(&s.dir, "dir", ".", "count the files below this `folder`, without .git; nobody should write there meanwhile")
	flags.StringVar(&s.store, "store", "etcd", "keep the registry in `etcd or zookeeper`")
	flags.StringVar(&s.servers, "servers", "", "`host:port,…` of a store that is running; without it, etcd is started within this program")
	flags.StringVar(&s.job, "job", "count-files-"+rand.Text()[:6], "`name` of a job that nobody else uses; it is removed in the end")
	flags.BoolVar(&s.isWorker, "worker", false, "be an instance of the job: the show starts its processes so")
	_ = flags.Parse(args) // it exits instead
	switch {
	case flags.NArg() > 0:
		return s, fmt.Errorf("argument %q: only flags are allowed; -h lists them", flags.Arg(0))
	case s.store != "etcd" && s.store != zookeeper:
		return s, fmt.Errorf("-store %q: etcd or %s is allowed", s.store, zookeeper)
	case s.store == zookeeper && s.servers == "":
		return s, fmt.Errorf("-store %s needs -servers host:port,… of a ZooKeeper that is running", zookeeper)
	}
	return s, nil
}
