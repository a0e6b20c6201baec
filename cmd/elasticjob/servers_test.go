package main

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// servers are the stores that all tests share. Each test has a namespace of its own.
var servers shared

type shared struct {
	mu     sync.Mutex
	ends   []func()
	stores map[string]string // the address of each kind, without a namespace
}

// store returns the address of a store of a kind, which it starts if it does not run yet.
func (s *shared) store(t *testing.T, kind string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if address, ok := s.stores[kind]; ok {
		return address
	}
	var address string
	switch kind {
	case "etcd":
		server, err := etcdserver.Run(t.Context(), etcdserver.Config{})
		if err != nil {
			t.Fatal(err)
		}
		address = "etcd://" + strings.TrimPrefix(server.Endpoints()[0], "http://")
		s.ends = append(s.ends, server.Stop)
	case "zookeeper":
		zkserver.Require(t)
		server, err := zkserver.Run(t.Context(), zkserver.Config{})
		if err != nil {
			t.Fatal(err)
		}
		address = "zookeeper://" + server.Addr()
		s.ends = append(s.ends, func() { server.Close() })
	}
	if s.stores == nil {
		s.stores = map[string]string{}
	}
	s.stores[kind] = address
	return address
}

func (s *shared) stop() {
	for _, end := range slices.Backward(s.ends) {
		end()
	}
}
