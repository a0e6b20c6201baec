// Package etcdserver runs etcd for tests, as processes of etcd's own program. A server starts in some tenths of a
// second and writes nothing to the terminal. Its data is in a folder of its own, which is removed when it stops, and is
// not durable: it does not wait for the disk unless Config.Fsync is set.
//
// The program is built from the module internal/embedetcd, so that the modules of the server are none of the library's.
// The environment variable ETCD names another one, such as that of an older release.
package etcdserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
)

// Config of a server. The zero value is one member, open to everybody on the loopback
// interface.
type Config struct {
	// Members is how many members the cluster has; 0 means 1.
	Members int
	// Fsync makes writes durable, at the speed of the disk.
	Fsync bool
	// Quota is how large the database may become, in bytes; 0 means etcd's default of 2 GiB.
	Quota int64
	// TLS makes clients use TLS. The server has a certificate for 127.0.0.1 and localhost.
	TLS bool
	// ClientCertificates makes clients show a certificate, and implies TLS.
	ClientCertificates bool
	// Auth makes clients log in, unless it is nil.
	Auth *Auth
}

// Auth is the user as which clients have to log in.
type Auth struct {
	User, Password string
	// Prefix is what the user may read and write; "" means every key.
	Prefix string
	// TokenLifetime is in whole seconds; 0 means etcd's default of 300 s.
	TokenLifetime time.Duration
}

const rootPassword = "root"

// Server is a running cluster.
type Server struct {
	config       Config
	program      string
	dir          string
	reaper       *child.Reaper // removes dir
	certificates *certificates // nil without TLS
	members      []*member
	admin        *clientv3.Client
	once         sync.Once
}

// TB is the part of testing.TB that Start needs.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Start runs a server until the end of the test.
func Start(t TB, config Config) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // other tests may keep the machine busy
	defer cancel()
	s, err := Run(ctx, config)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Run starts a server and returns when it serves. The caller has to stop it. ctx bounds the
// start only.
func Run(ctx context.Context, config Config) (*Server, error) {
	if config.Members == 0 {
		config.Members = 1
	}
	config.TLS = config.TLS || config.ClientCertificates
	program, err := Program()
	if err != nil {
		return nil, fmt.Errorf("etcdserver: %w", err)
	}
	for attempt := 1; ; attempt++ {
		s := &Server{config: config, program: program}
		err := s.start(ctx)
		if err == nil {
			return s, nil
		}
		s.Stop()
		// Another process may have taken a port meanwhile.
		if attempt == 3 || !strings.Contains(err.Error(), "address already in use") {
			return nil, fmt.Errorf("etcdserver: %w", err)
		}
	}
}

func (s *Server) start(ctx context.Context) (err error) {
	if s.dir, err = os.MkdirTemp("", "etcdserver-"); err != nil {
		return err
	}
	if s.reaper, err = child.StartReaper(s.dir, "KILL"); err != nil {
		return errors.Join(err, os.RemoveAll(s.dir))
	}
	if s.config.TLS {
		if s.certificates, err = newCertificates(s.dir); err != nil {
			return err
		}
	}
	if s.members, err = startMembers(ctx, s); err != nil {
		return err
	}
	if s.admin, err = clientv3.New(s.adminConfig()); err != nil {
		return err
	}
	if s.config.Auth == nil {
		return nil
	}
	if err := s.enableAuth(ctx); err != nil {
		return fmt.Errorf("enabling authentication: %w", err)
	}
	_ = s.admin.Close()
	config := s.adminConfig()
	config.Username, config.Password = "root", rootPassword
	s.admin, err = clientv3.New(config)
	return err
}

func (s *Server) adminConfig() clientv3.Config {
	return clientv3.Config{Endpoints: s.Endpoints(), TLS: s.ClientTLS(), DialTimeout: time.Minute, Logger: zap.NewNop()}
}

func (s *Server) enableAuth(ctx context.Context) error {
	auth := s.config.Auth
	end := clientv3.GetPrefixRangeEnd(auth.Prefix)
	from := auth.Prefix
	if from == "" {
		from, end = "\x00", "\x00"
	}
	for _, step := range []func() error{
		func() error { _, err := s.admin.UserAdd(ctx, "root", rootPassword); return err },
		func() error { _, err := s.admin.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := s.admin.RoleAdd(ctx, "client"); return err },
		func() error {
			_, err := s.admin.RoleGrantPermission(ctx, "client", from, end, clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := s.admin.UserAdd(ctx, auth.User, auth.Password); return err },
		func() error { _, err := s.admin.UserGrantRole(ctx, auth.User, "client"); return err },
		func() error { _, err := s.admin.AuthEnable(ctx); return err },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Endpoints returns the "host:port" of every member.
func (s *Server) Endpoints() []string {
	endpoints := make([]string, len(s.members))
	for i, m := range s.members {
		endpoints[i] = m.clientAddr
	}
	return endpoints
}

// ClientTLS returns the TLS configuration of a client that the server trusts; nil without TLS.
func (s *Server) ClientTLS() *tls.Config {
	if s.certificates == nil {
		return nil
	}
	return s.certificates.client(s.config.ClientCertificates)
}

// AuthorityFile returns the path of the certificate that has signed the server's, with TLS.
func (s *Server) AuthorityFile() string { return s.certificates.caFile }

// UntrustingTLS returns the TLS configuration of a client that does not trust the server.
func (s *Server) UntrustingTLS() *tls.Config { return s.certificates.stranger() }

// Admin returns a client that may do everything. The server closes it.
func (s *Server) Admin() *clientv3.Client { return s.admin }

// Leader returns the index of the member that leads, or -1.
func (s *Server) Leader(ctx context.Context) int {
	for i, m := range s.members {
		if status, err := s.admin.Status(ctx, m.clientAddr); err == nil && status.Leader == status.Header.MemberId {
			return i
		}
	}
	return -1
}

// StopMember kills one member.
func (s *Server) StopMember(i int) { s.members[i].stop() }

// RestartMember starts a stopped member again, with its data and at its address.
func (s *Server) RestartMember(ctx context.Context, i int) error {
	if err := s.members[i].start(); err != nil {
		return fmt.Errorf("etcdserver: member %d: %w", i, err)
	}
	if err := s.members[i].awaitReady(ctx); err != nil {
		return fmt.Errorf("etcdserver: member %d: %w", i, err)
	}
	return nil
}

// Save stops all members, copies their data, and starts them again. The copy is removed
// when the server stops.
func (s *Server) Save(ctx context.Context) (*Saved, error) {
	dir, err := os.MkdirTemp(s.dir, "saved-*")
	if err != nil {
		return nil, fmt.Errorf("etcdserver: %w", err)
	}
	err = s.whileStopped(ctx, func(m *member) error { return os.CopyFS(filepath.Join(dir, m.name), os.DirFS(m.dir())) })
	if err != nil {
		return nil, err
	}
	return &Saved{dir}, nil
}

// Saved is a copy of the data of all members.
type Saved struct{ dir string }

// PutBack stops all members, replaces their data by the saved one, or by none if that is
// nil, and starts them again at their addresses.
func (s *Server) PutBack(ctx context.Context, saved *Saved) error {
	return s.whileStopped(ctx, func(m *member) error {
		if err := os.RemoveAll(m.dir()); err != nil || saved == nil {
			return err
		}
		return os.CopyFS(m.dir(), os.DirFS(filepath.Join(saved.dir, m.name)))
	})
}

func (s *Server) whileStopped(ctx context.Context, do func(*member) error) error {
	for _, m := range s.members {
		m.stop()
	}
	for _, m := range s.members {
		if err := do(m); err != nil {
			return fmt.Errorf("etcdserver: %s: %w", m.name, err)
		}
	}
	for _, m := range s.members {
		if err := m.start(); err != nil {
			return fmt.Errorf("etcdserver: %s: %w", m.name, err)
		}
	}
	for _, m := range s.members {
		if err := m.awaitReady(ctx); err != nil {
			return fmt.Errorf("etcdserver: %s: %w", m.name, err)
		}
	}
	return nil
}

// Watches counts the watches of all members.
func (s *Server) Watches(ctx context.Context) (int, error) {
	return s.count(ctx, "etcd_debugging_mvcc_watcher_total", "")
}

// Requests counts the requests to read and to write that all members have handled so far.
func (s *Server) Requests(ctx context.Context) (int, error) {
	return s.count(ctx, "grpc_server_handled_total", `grpc_service="etcdserverpb.KV"`)
}

// count adds up a metric of all members.
func (s *Server) count(ctx context.Context, metric, label string) (count int, err error) {
	for _, m := range s.members {
		n, err := m.metric(ctx, metric, label)
		if err != nil {
			return 0, fmt.Errorf("etcdserver: %w", err)
		}
		count += n
	}
	return count, nil
}

// Stop kills all members and removes their data. A second Stop does nothing.
func (s *Server) Stop() {
	s.once.Do(func() {
		if s.admin != nil {
			_ = s.admin.Close()
		}
		stopMembers(s.members)
		if s.reaper != nil {
			_ = s.reaper.Finish() // it has tried for half a minute
		}
	})
}
