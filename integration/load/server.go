package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// Server is a process with a store of our own, of one member that waits for its disk. Its
// data is in a temporary folder, which goes when the process ends.
type Server struct {
	etcd      *etcdserver.Server
	zookeeper *zkserver.Server
}

// Start starts the store, and answers where it listens.
func (s *Server) Start(store string, address *string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if store == zkStore {
		s.zookeeper, err = zkserver.Run(ctx, zkserver.Config{Fsync: true, Optimize: true, Tick: 500 * time.Millisecond})
		if err != nil {
			return err
		}
		*address = s.zookeeper.Addr()
		return nil
	}
	s.etcd, err = etcdserver.Run(ctx, etcdserver.Config{Fsync: true})
	if err != nil {
		return err
	}
	*address = s.etcd.Endpoints()[0]
	return nil
}

func (s *Server) stop() {
	if s.etcd != nil {
		s.etcd.Stop()
	}
	if s.zookeeper != nil {
		_ = s.zookeeper.Close() // the server's folder and process end with this process in any case
	}
}

// inMemory reports whether temporary folders are no files on a disk, so that a store of
// our own waits for nothing.
func inMemory() bool {
	var s unix.Statfs_t
	return unix.Statfs(os.TempDir(), &s) == nil && (s.Type == unix.TMPFS_MAGIC || s.Type == unix.RAMFS_MAGIC)
}

// site is the store on which all runs.
type site struct {
	store     string
	endpoints []string
	own       *child // nil for a store that others run
}

// open starts a store, unless there are endpoints. The caller closes it.
func open(ctx context.Context, o options) (*site, error) {
	s := &site{store: o.Store, endpoints: o.Endpoints}
	if len(s.endpoints) > 0 {
		return s, nil
	}
	var err error
	if s.own, err = start(serveServer, nil); err != nil {
		return nil, err
	}
	address, err := call[string, string](ctx, s.own, "Start", o.Store)
	if err != nil {
		s.close()
		return nil, err
	}
	s.endpoints = []string{address}
	return s, nil
}

func (s *site) close() {
	if s.own != nil {
		s.own.close()
	}
}

// served is what the store has used and done since it began. What is not known is negative.
type served struct {
	cpu                         time.Duration
	requests, revisions, fsyncs float64
}

const unknown = -1

func (a served) minus(b served) served {
	less := func(x, y float64) float64 {
		if x < 0 || y < 0 {
			return unknown
		}
		return x - y
	}
	cpu := a.cpu - b.cpu
	if a.cpu < 0 || b.cpu < 0 {
		cpu = unknown
	}
	return served{cpu, less(a.requests, b.requests), less(a.revisions, b.revisions), less(a.fsyncs, b.fsyncs)}
}

// count asks the store what it has used and done.
func (s *site) count(ctx context.Context) (now served, err error) {
	now = served{unknown, unknown, unknown, unknown}
	if s.store == etcdStore {
		if now, err = scrapeAll(ctx, s.endpoints); err != nil {
			return now, fmt.Errorf("metrics of etcd: %w", err)
		}
	}
	if s.own != nil {
		if now.cpu, err = cpuWithChildren(s.own.pid()); err != nil {
			return now, errors.Join(errors.New("CPU time of the store"), err)
		}
	}
	return now, nil
}
