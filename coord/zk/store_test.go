package zk_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/coordtest"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

const (
	rightPassword = "user:right"
	wrongPassword = "user:wrong"
)

// store is the suite's store: a real server, with a proxy in front of it for each registry.
// Cases that need a certificate have the shared server with one.
type store struct {
	t      testing.TB
	server *zkserver.Server

	mu         sync.Mutex
	registries []*zk.Registry
}

func newStore(t testing.TB, cfg zkserver.Config) *store {
	return &store{t: t, server: zkserver.Start(t, cfg)}
}

func (s *store) Dial(ctx context.Context, o coordtest.Options) (coord.Registry, coordtest.Link, error) {
	cfg := zk.Config{Namespace: o.Namespace, SessionTimeout: o.SessionTimeout, DialTimeout: 30 * time.Second, RequestTimeout: 30 * time.Second} // however busy the machine is
	if cfg.Namespace == "" {
		cfg.Namespace = "test"
	}
	if cfg.SessionTimeout == 0 {
		cfg.SessionTimeout = 2 * time.Second
	}
	addr := s.server.Addr()
	switch o.Credentials {
	case coordtest.Password:
		cfg.Digest = rightPassword
	case coordtest.WrongPassword:
		// A wrong password shows only if the namespace belongs to somebody.
		owner := cfg
		owner.Servers, owner.Digest = []string{addr}, rightPassword
		r, err := zk.Dial(ctx, owner)
		if err != nil {
			return nil, nil, err
		}
		if err := r.Close(ctx); err != nil {
			return nil, nil, err
		}
		cfg.Digest = wrongPassword
	case coordtest.TLS, coordtest.UntrustedTLS:
		secure := secureServer(s.t)
		addr = secure.TLSAddr()
		cfg.TLS = &tls.Config{RootCAs: secure.Authority()}
		if o.Credentials == coordtest.UntrustedTLS {
			cfg.TLS.RootCAs = x509.NewCertPool()
		}
	}
	if o.Nowhere {
		cfg.DialTimeout = time.Second
		cfg.Servers = []string{nowhere(s.t)}
		r, err := zk.Dial(ctx, cfg)
		return r, nil, err
	}
	p, err := proxy.New(addr)
	if err != nil {
		return nil, nil, err
	}
	s.t.Cleanup(p.Close)
	cfg.Servers = []string{p.Addr()}
	r, err := zk.Dial(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.registries = append(s.registries, r)
	return r, p, nil
}

// nowhere is an address where nobody listens.
func nowhere(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Forget does nothing: ZooKeeper keeps no history for its clients.
func (s *store) Forget(context.Context) error { return nil }

// Expire takes the session over, with its password, and closes it. If its owner takes it
// back in between, Expire takes it over again.
func (s *store) Expire(ctx context.Context, id coord.SessionID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.registries {
		if session, password := r.SessionPassword(); session == id {
			for {
				closed, err := closeSession(ctx, s.server.Addr(), id, password)
				if closed || err != nil {
					return err
				}
			}
		}
	}
	return fmt.Errorf("no registry has the session %#x", id)
}

func closeSession(ctx context.Context, addr string, id coord.SessionID, password []byte) (closed bool, err error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false, err
	}
	defer c.Close()
	connect := binary.BigEndian.AppendUint32(nil, 0)             // protocol version
	connect = binary.BigEndian.AppendUint64(connect, 0)          // last change seen
	connect = binary.BigEndian.AppendUint32(connect, 10_000)     // time-out
	connect = binary.BigEndian.AppendUint64(connect, uint64(id)) //
	connect = binary.BigEndian.AppendUint32(connect, uint32(len(password)))
	connect = append(connect, password...)
	if err := send(c, connect); err != nil {
		return false, err
	}
	const closeOp = 1<<32 - 11
	request := binary.BigEndian.AppendUint32(nil, 1)
	request = binary.BigEndian.AppendUint32(request, closeOp)
	if err := send(c, request); err != nil {
		return false, nil // its owner was faster
	}
	answer, err := receive(c)
	if err != nil {
		return false, nil
	}
	if len(answer) < 16 || binary.BigEndian.Uint64(answer[8:]) != uint64(id) {
		return true, nil // it has ended
	}
	_, err = receive(c)
	return err == nil, nil
}

func send(c net.Conn, packet []byte) error {
	_, err := c.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(packet))), packet...))
	return err
}

func receive(c net.Conn) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err := io.ReadFull(c, answer)
	return answer, err
}

func (s *store) Sessions(ctx context.Context) (int, error) {
	return s.server.Metric(ctx, "zk_global_sessions")
}

func (s *store) Watches(ctx context.Context) (int, error) {
	return s.server.Metric(ctx, "zk_watch_count")
}

func TestConformance(t *testing.T) {
	t.Parallel()
	coordtest.Run(t, func(t testing.TB) coordtest.Store { return newStore(t, zkserver.Config{}) })
}

func TestOutages(t *testing.T) {
	t.Parallel()
	coordtest.RunOutages(t, func(t testing.TB) coordtest.Server { return newStore(t, zkserver.Config{}) })
}

func (s *store) Kill(context.Context) error { return s.server.Kill() }

func (s *store) Restart(ctx context.Context) error { return s.server.Restart(ctx) }

func (s *store) Stop() error { return s.server.Pause() }

func (s *store) Continue() error { return s.server.Resume() }
