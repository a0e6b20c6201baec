package database

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// Shared has one server of each kind for all tests of a package. Each starts when a test
// first asks for it. The zero value is ready.
type Shared struct {
	mu      sync.Mutex
	servers map[Kind]*Server
	failed  map[Kind]error
}

// Database makes a new database on the server of that kind. It calls Require first.
func (s *Shared) Database(t testing.TB, kind Kind) Database {
	t.Helper()
	Require(t, kind)
	server, err := s.server(kind)
	if err != nil {
		t.Fatal(err)
	}
	d, err := server.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// server starts the server once: where it does not start, each test would wait in vain.
func (s *Shared) server(kind Kind) (*Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if server, ok := s.servers[kind]; ok {
		return server, s.failed[kind]
	}
	if s.servers == nil {
		s.servers, s.failed = map[Kind]*Server{}, map[Kind]error{}
	}
	s.servers[kind], s.failed[kind] = Run(context.Background(), Config{Kind: kind})
	return s.servers[kind], s.failed[kind]
}

// Close ends the servers.
func (s *Shared) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, server := range s.servers {
		if server != nil {
			errs = append(errs, server.Close())
		}
	}
	s.servers, s.failed = nil, nil
	return errors.Join(errs...)
}

// Around returns m with the servers closed when its tests have ended, for goleak.VerifyTestMain.
func (s *Shared) Around(m *testing.M) Tests { return Tests{m: m, shared: s} }

// Tests are those of a package, and the servers that they share.
type Tests struct {
	m      *testing.M
	shared *Shared
}

// Run runs the tests, closes the servers, and returns the exit code.
func (t Tests) Run() int {
	code := t.m.Run()
	if err := t.shared.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "close the databases of the tests:", err)
		return max(code, 1)
	}
	return code
}
