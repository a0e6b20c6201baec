package etcdserver_test

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dial(t *testing.T, s *etcdserver.Server, tls *tls.Config, user, password string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{
		Endpoints: s.Endpoints(), TLS: tls, Username: user, Password: password,
		DialTimeout: time.Minute, Logger: zap.NewNop(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func put(t *testing.T, c *clientv3.Client, key string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := c.Put(ctx, key, "v")
	return err
}

func TestSeveralAtOnce(t *testing.T) {
	for range 3 {
		begin := time.Now()
		s := etcdserver.Start(t, etcdserver.Config{})
		t.Logf("started in %v", time.Since(begin))
		if err := put(t, s.Admin(), "k"); err != nil {
			t.Error(err)
		}
		if n, err := s.Watches(t.Context()); err != nil || n != 0 {
			t.Errorf("Watches() = %d, %v", n, err)
		}
	}
}

func TestThreeMembersOutliveTheirLeader(t *testing.T) {
	begin := time.Now()
	s := etcdserver.Start(t, etcdserver.Config{Members: 3})
	t.Logf("started in %v", time.Since(begin))
	if err := put(t, s.Admin(), "a"); err != nil {
		t.Fatal(err)
	}
	leader := s.Leader(t.Context())
	begin = time.Now()
	s.StopMember(leader)
	t.Logf("stopped the leader in %v", time.Since(begin))
	// A write that was on its way to the old leader is lost, and its error comes late.
	for late := time.Now().Add(time.Minute); ; {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		_, err := s.Admin().Put(ctx, "b", "v")
		cancel()
		if err == nil {
			break
		}
		if time.Now().After(late) {
			t.Fatal(err)
		}
	}
	begin = time.Now()
	if err := s.RestartMember(t.Context(), leader); err != nil {
		t.Fatal(err)
	}
	t.Logf("restarted in %v", time.Since(begin))
	begin = time.Now()
	only := clientv3.Config{Endpoints: s.Endpoints()[leader : leader+1], Logger: zap.NewNop()}
	c, err := clientv3.New(only)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := put(t, c, "c"); err != nil {
		t.Error(err)
	}
	t.Logf("put %v", time.Since(begin))
	begin = time.Now()
	s.Stop()
	t.Logf("stopped in %v", time.Since(begin))
}

func TestAuth(t *testing.T) {
	s := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "u", Password: "p", Prefix: "/mine/"}})
	c := dial(t, s, nil, "u", "p")
	if err := put(t, c, "/mine/a"); err != nil {
		t.Error(err)
	}
	if err := put(t, c, "/other"); !errors.Is(err, rpctypes.ErrPermissionDenied) {
		t.Errorf("outside of the prefix: %v", err)
	}
	if err := put(t, s.Admin(), "/other"); err != nil {
		t.Errorf("admin: %v", err)
	}
}

func TestTLS(t *testing.T) {
	for name, config := range map[string]etcdserver.Config{"server": {TLS: true}, "mutual": {ClientCertificates: true}} {
		t.Run(name, func(t *testing.T) { testTLS(t, config) })
	}
}

func testTLS(t *testing.T, config etcdserver.Config) {
	s := etcdserver.Start(t, config)
	if err := put(t, dial(t, s, s.ClientTLS(), "", ""), "k"); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := dial(t, s, s.UntrustingTLS(), "", "").Put(ctx, "k", "v"); err == nil {
		t.Error("a client that trusts another authority got through")
	}
}

func TestStopIsQuickAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	quickest := time.Hour
	for range 3 { // the machine may stand still meanwhile
		s, err := etcdserver.Run(t.Context(), etcdserver.Config{})
		if err != nil {
			t.Fatal(err)
		}
		c := dial(t, s, nil, "", "")
		c.Watch(t.Context(), "k") // a server that stops in good order would wait for such a stream
		begin := time.Now()
		s.Stop()
		quickest = min(quickest, time.Since(begin))
		s.Stop()
	}
	if quickest > 3*time.Second {
		t.Errorf("took %v", quickest)
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
