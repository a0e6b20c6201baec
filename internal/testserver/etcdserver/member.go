package etcdserver

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"golang.org/x/crypto/bcrypt"
	"google.golang.org/grpc"

	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

// member is one etcd server. It can be stopped and started again.
type member struct {
	server               *Server
	name, cluster        string
	clientAddr, peerAddr string
	// link forwards to the peer address of a member that has other members. So its address
	// is known before the member listens, and closing it ends all connections between
	// members.
	link *proxy.Proxy

	mu   sync.Mutex
	etcd *embed.Etcd
	// serving has the gRPC server once that serves clients. etcd says before that it is
	// ready.
	serving chan *grpc.Server
}

// startMembers starts all members of a cluster and waits until they serve.
func startMembers(ctx context.Context, s *Server) (members []*member, err error) {
	defer func() {
		if err != nil {
			stopMembers(members)
			members = nil
		}
	}()
	var cluster []string
	for i := range s.config.Members {
		m := &member{server: s, name: fmt.Sprint("member", i), clientAddr: "127.0.0.1:0", peerAddr: "127.0.0.1:0"}
		if s.config.Members > 1 {
			if m.link, err = proxy.New(""); err != nil {
				return members, err
			}
			m.peerAddr = m.link.Addr()
		}
		cluster = append(cluster, m.name+"=http://"+m.peerAddr)
		members = append(members, m)
	}
	for _, m := range members {
		m.cluster = strings.Join(cluster, ",")
		if err := m.start(); err != nil {
			return members, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	for _, m := range members {
		if err := m.awaitReady(ctx); err != nil {
			return members, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return members, nil
}

func stopMembers(members []*member) {
	var stopping sync.WaitGroup
	for _, m := range members {
		stopping.Go(m.stop)
	}
	stopping.Wait()
	for _, m := range members {
		if m.link != nil {
			m.link.Close()
		}
	}
}

func (m *member) dir() string { return filepath.Join(m.server.dir, m.name) }

func (m *member) start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	config := m.server.config
	scheme := "http"
	c := embed.NewConfig()
	c.Name = m.name
	c.Dir = m.dir()
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	c.TickMs, c.ElectionMs = 10, 100 // so that elections are fast, and sessions may last a second
	c.UnsafeNoFsync = !config.Fsync
	c.QuotaBackendBytes = config.Quota
	c.EnableGRPCGateway = false
	c.InitialCluster = m.cluster
	c.BcryptCost = uint(bcrypt.MinCost)
	if config.Auth != nil && config.Auth.TokenLifetime > 0 {
		c.AuthTokenTTL = uint(config.Auth.TokenLifetime / time.Second)
	}
	if config.TLS {
		scheme = "https"
		c.ClientTLSInfo.CertFile, c.ClientTLSInfo.KeyFile = m.server.certificates.certFile, m.server.certificates.keyFile
		if config.ClientCertificates { // with an authority, etcd always asks for a certificate
			c.ClientTLSInfo.TrustedCAFile, c.ClientTLSInfo.ClientCertAuth = m.server.certificates.caFile, true
		}
	}
	client := url.URL{Scheme: scheme, Host: m.clientAddr}
	peer := url.URL{Scheme: "http", Host: m.peerAddr}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}, []url.URL{peer}
	serving := make(chan *grpc.Server, 1)
	// Without WaitForHandlers the gRPC server's Stop cuts the connections and returns, while
	// requests are still being handled. One that reads after that, such as a log-in, panics,
	// because the database is closed. It may be one that its client has given up: the server
	// goes on with it, so it does not help to close all clients first.
	c.GRPCAdditionalServerOptions = []grpc.ServerOption{grpc.WaitForHandlers(true)}
	if config.interceptor != nil {
		c.GRPCAdditionalServerOptions = append(c.GRPCAdditionalServerOptions, grpc.ChainUnaryInterceptor(config.interceptor))
	}
	c.ServiceRegister = func(g *grpc.Server) { serving <- g }
	m.serving = serving
	etcd, err := embed.StartEtcd(c)
	if err != nil {
		return err
	}
	m.etcd = etcd
	m.clientAddr = etcd.Clients[0].Addr().String()
	if m.link != nil {
		m.link.Redirect(etcd.Peers[0].Addr().String())
		m.link.Heal()
	}
	return nil
}

func (m *member) awaitReady(ctx context.Context) error {
	m.mu.Lock()
	etcd, serving := m.etcd, m.serving
	m.mu.Unlock()
	select {
	case g := <-serving:
		serving <- g
		return nil
	case err := <-etcd.Err():
		return err
	case <-ctx.Done():
		return fmt.Errorf("not ready: %w", context.Cause(ctx))
	}
}

func (m *member) leads() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.etcd != nil && m.etcd.Server.Leader() == m.etcd.Server.MemberID()
}

// stop ends the member at once. etcd's own Close waits for seconds: for clients, and for
// another member to become the leader.
func (m *member) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.etcd == nil {
		return
	}
	if m.link != nil {
		m.link.Cut()
	}
	select {
	case g := <-m.serving:
		g.Stop()
	default:
	}
	m.etcd.Server.HardStop()
	m.etcd.Server = nil // so that Close does not stop it again, and wait
	m.etcd.Close()
	m.etcd = nil
}
