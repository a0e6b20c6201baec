// Package etcdserver runs etcd inside the process, for tests and examples. It starts in a
// few hundredths of a second and writes nothing to the terminal. Its data is in a folder of
// its own, which is removed when it stops, and is not durable: it does not wait for the disk
// unless Config.Fsync is set.
package etcdserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
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

	interceptor grpc.UnaryServerInterceptor // nil but in a test
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
	dir          string
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
	dir, err := newDir()
	if err != nil {
		return nil, fmt.Errorf("etcdserver: %w", err)
	}
	s := &Server{config: config, dir: dir}
	if err := s.start(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("etcdserver: %w", err)
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) (err error) {
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
func (s *Server) Leader() int {
	for i, m := range s.members {
		if m.leads() {
			return i
		}
	}
	return -1
}

// StopMember stops one member as if its process had ended: its connections break.
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

// Watches counts the watches of all embedded servers of this process.
func Watches() (int, error) {
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		return 0, fmt.Errorf("etcdserver: %w", err)
	}
	for _, f := range families {
		if f.GetName() == "etcd_debugging_mvcc_watcher_total" {
			return int(f.GetMetric()[0].GetGauge().GetValue()), nil
		}
	}
	return 0, errors.New("etcdserver: no metric tells the number of watches")
}

// Stop ends all members at once and removes their data. A second Stop does nothing.
func (s *Server) Stop() {
	s.once.Do(func() {
		if s.admin != nil {
			_ = s.admin.Close()
		}
		stopMembers(s.members)
		_ = os.RemoveAll(s.dir)
	})
}

// dirPrefix begins the name of a folder; the id of the process that owns it follows.
const dirPrefix = "elasticjob-etcd-"

// newDir makes a folder, and removes those of processes that were killed.
func newDir() (string, error) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*"))
	if err != nil {
		return "", err
	}
	for _, dir := range left {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), dirPrefix), "-")
		pid, err := strconv.Atoi(owner)
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.RemoveAll(dir)
		}
	}
	return os.MkdirTemp("", dirPrefix+strconv.Itoa(os.Getpid())+"-*")
}
