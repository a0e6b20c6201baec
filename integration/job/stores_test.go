package job_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// servers are the stores that all tests share. Each test has a namespace of its own. A server
// starts with the first test that needs it, and stops after the last test.
var servers struct {
	etcd, zk shared
}

// shared is the address of a server that runs for all tests.
type shared struct {
	once sync.Once
	addr string
	err  error
	stop func()
}

func (s *shared) start(t testing.TB, run func() (string, func(), error)) string {
	t.Helper()
	s.once.Do(func() { s.addr, s.stop, s.err = run() })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.addr
}

func (s *shared) end() {
	if s.stop != nil {
		s.stop()
	}
}

// server is a real store. Every registry connects to it through a proxy of its own. Where a session
// outlasts a machine that stands still, requests do, too.
type server struct {
	addr string
	open func(t testing.TB, addr, namespace string, timeout time.Duration) (coord.Registry, error)
}

func (s server) dial(t testing.TB, namespace string, timeout time.Duration) (coord.Registry, link) {
	t.Helper()
	p, err := proxy.New(s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	reg, err := s.open(t, p.Addr(), namespace, timeout)
	if err != nil {
		t.Fatal(err)
	}
	return reg, p
}

func etcdStore(t testing.TB) store {
	t.Helper()
	addr := servers.etcd.start(t, func() (string, func(), error) {
		s, err := etcdserver.Run(t.Context(), etcdserver.Config{})
		if err != nil {
			return "", nil, err
		}
		return strings.TrimPrefix(s.Endpoints()[0], "http://"), s.Stop, nil
	})
	return etcdServer{server{addr, func(t testing.TB, addr, namespace string, timeout time.Duration) (coord.Registry, error) {
		return etcd.Dial(t.Context(), etcd.Config{Endpoints: []string{addr}, Namespace: namespace, SessionTimeout: timeout, DialTimeout: patience, RequestTimeout: max(5*time.Second, timeout/2)})
	}}}
}

func zookeeperStore(t testing.TB) store {
	t.Helper()
	zkserver.Require(t)
	addr := servers.zk.start(t, func() (string, func(), error) {
		s, err := zkserver.Run(t.Context(), zkserver.Config{})
		if err != nil {
			return "", nil, err
		}
		return s.Addr(), func() { s.Close() }, nil
	})
	return server{addr, func(t testing.TB, addr, namespace string, timeout time.Duration) (coord.Registry, error) {
		return zk.Dial(t.Context(), zk.Config{Servers: []string{addr}, Namespace: namespace, SessionTimeout: timeout, DialTimeout: patience, RequestTimeout: max(5*time.Second, timeout/2)})
	}}
}
