package etcd_test

import (
	"context"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/coordtest"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	coordtest.Run(t, newStore)
}

// Commits in groups: none goes alone.
func TestConformanceInGroups(t *testing.T) {
	t.Parallel()
	coordtest.RunCommits(t, func(t testing.TB) coordtest.Store {
		s := newStore(t).(*store)
		s.accompanied = true
		return s
	})
}

func TestOutages(t *testing.T) {
	t.Parallel()
	coordtest.RunOutages(t, func(t testing.TB) coordtest.Server { return newStore(t).(*store) })
}

// store is a server. For the cases that need a user or TLS it starts others.
type store struct {
	t     testing.TB
	plain *etcdserver.Server
	// accompanied: see etcd.Registry.Accompany.
	accompanied bool

	mu      sync.Mutex
	special map[string]*etcdserver.Server
	links   []*proxy.Proxy
}

func newStore(t testing.TB) coordtest.Store {
	return &store{t: t, plain: etcdserver.Start(t, etcdserver.Config{}), special: make(map[string]*etcdserver.Server)}
}

func (s *store) start(kind string, config etcdserver.Config) *etcdserver.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.special[kind] == nil {
		s.special[kind] = etcdserver.Start(s.t, config)
	}
	return s.special[kind]
}

func (s *store) Dial(ctx context.Context, o coordtest.Options) (coord.Registry, coordtest.Link, error) {
	config := etcd.Config{
		Namespace:      o.Namespace,
		SessionTimeout: o.SessionTimeout,
		DialTimeout:    30 * time.Second, // however busy the machine is
		RequestTimeout: 30 * time.Second,
	}
	if config.Namespace == "" {
		config.Namespace = "test"
	}
	if config.SessionTimeout == 0 {
		config.SessionTimeout = 2 * time.Second
	}
	server := s.plain
	switch o.Credentials {
	case coordtest.Password, coordtest.WrongPassword:
		server = s.start("auth", etcdserver.Config{Auth: &etcdserver.Auth{User: "user", Password: "right", Prefix: "/"}})
		config.Username, config.Password = "user", "right"
		if o.Credentials == coordtest.WrongPassword {
			config.Password = "wrong"
		}
	case coordtest.TLS, coordtest.UntrustedTLS:
		server = s.start("tls", etcdserver.Config{TLS: true})
		config.TLS = server.ClientTLS()
		if o.Credentials == coordtest.UntrustedTLS {
			config.TLS = server.UntrustingTLS()
		}
	}
	link, err := proxy.New(server.Endpoints()[0])
	if err != nil {
		return nil, nil, err
	}
	s.t.Cleanup(link.Close)
	s.mu.Lock()
	s.links = append(s.links, link)
	s.mu.Unlock()
	if o.Nowhere {
		link.Close()
		config.DialTimeout = time.Second
	}
	config.Endpoints = []string{link.Addr()}
	r, err := etcd.Dial(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	if s.accompanied {
		r.Accompany()
	}
	return r, link, nil
}

func (s *store) servers() []*etcdserver.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	servers := []*etcdserver.Server{s.plain}
	for _, server := range s.special {
		servers = append(servers, server)
	}
	return servers
}

func (s *store) Forget(ctx context.Context) error {
	newest, err := s.plain.Admin().Get(ctx, "-")
	if err != nil {
		return err
	}
	_, err = s.plain.Admin().Compact(ctx, newest.Header.Revision)
	return err
}

func (s *store) Expire(ctx context.Context, id coord.SessionID) error {
	_, err := s.plain.Admin().Revoke(ctx, clientv3.LeaseID(id))
	return err
}

func (s *store) Sessions(ctx context.Context) (int, error) {
	count := 0
	for _, server := range s.servers() {
		leases, err := server.Admin().Leases(ctx)
		if err != nil {
			return 0, err
		}
		count += len(leases.Leases)
	}
	return count, nil
}

func (s *store) Watches(ctx context.Context) (count int, err error) {
	for _, server := range s.servers() {
		n, err := server.Watches(ctx)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

func (s *store) Kill(context.Context) error {
	s.plain.StopMember(0)
	return nil
}

func (s *store) Restart(ctx context.Context) error { return s.plain.RestartMember(ctx, 0) }

// Stop stops the links: to the clients that is a server that stands still.
func (s *store) Stop() error { return s.eachLink((*proxy.Proxy).Pause) }

func (s *store) Continue() error { return s.eachLink((*proxy.Proxy).Resume) }

func (s *store) eachLink(do func(*proxy.Proxy)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, link := range s.links {
		do(link)
	}
	return nil
}
