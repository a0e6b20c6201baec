// Package embedetcd runs one etcd member within the process, for the quickstart, the demo of the console, and machines
// that have no etcd:
//
//	server, err := embedetcd.Start(ctx, "127.0.0.1:0")
//	if err != nil {
//		return err
//	}
//	defer server.Stop()
//	registry, err := etcd.Dial(ctx, etcd.Config{Endpoints: []string{server.Address()}, Namespace: "shop"})
//
// It starts in a few hundredths of a second, listens without TLS and users, and writes nothing to the terminal. The data
// of Start is in a temporary folder, is not synced to the disk, and is removed at the end; that of Open stays. Neither is
// for production: Run takes a configuration of the caller's.
//
// It is a module of its own: the library does not require the modules of the server.
package embedetcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// Server is a running member.
type Server struct {
	etcd *embed.Etcd
	temp string // the folder that goes with it
	// serving has the gRPC server once that serves clients.
	serving chan *grpc.Server
	done    <-chan struct{} // closed when etcd has ended
	once    sync.Once
}

// Start starts a member that listens for clients at an address, and returns when it serves. ctx bounds the start only.
// The caller has to stop it.
func Start(ctx context.Context, listen string) (*Server, error) {
	folder, err := TempFolder("elasticjob-etcd-")
	if err != nil {
		return nil, fmt.Errorf("embedetcd: %w", err)
	}
	c := local(listen, folder)
	c.UnsafeNoFsync = true
	return (&Server{temp: folder}).run(ctx, c)
}

// Open is Start with data in a folder that stays: it is made if it is not there, and synced to the disk at each write.
func Open(ctx context.Context, listen, folder string) (*Server, error) {
	return Run(ctx, local(listen, folder))
}

// Run starts a member with a configuration, which it completes, and returns when it serves: if it is one of several, that
// is when most of them are there. History is kept for an hour.
func Run(ctx context.Context, c *embed.Config) (*Server, error) { return new(Server).run(ctx, c) }

// local is the configuration of the only member, for this machine.
func local(listen, folder string) *embed.Config {
	c := embed.NewConfig()
	c.Dir = folder
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	c.TickMs, c.ElectionMs = 10, 100 // so that it leads at once, and sessions may last a second
	client := url.URL{Scheme: "http", Host: listen}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	c.ListenPeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}} // it has no peers
	return c
}

func (s *Server) run(ctx context.Context, c *embed.Config) (*Server, error) {
	s.serving = make(chan *grpc.Server, 1)
	if err := s.start(ctx, c); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, c *embed.Config) (err error) {
	c.EnableGRPCGateway = false
	c.AutoCompactionRetention = "1h" // without it the database grows until it takes no writes
	// Without WaitForHandlers the gRPC server's Stop returns while requests are still being handled, and one that
	// reads the database after that panics.
	c.GRPCAdditionalServerOptions = []grpc.ServerOption{grpc.WaitForHandlers(true)}
	c.ServiceRegister = func(g *grpc.Server) { s.serving <- g }
	if s.etcd, err = embed.StartEtcd(c); err != nil {
		return fmt.Errorf("embedetcd: %w", err)
	}
	s.done = s.etcd.Server.StopNotify()
	select {
	case g := <-s.serving: // etcd says before that it is ready
		s.serving <- g
		return nil
	case err := <-s.etcd.Err():
		return fmt.Errorf("embedetcd: %w", err)
	case <-s.done:
		return errRemoved
	case <-ctx.Done():
		return fmt.Errorf("embedetcd: not ready: %w", context.Cause(ctx))
	}
}

// Address returns the "host:port" for clients.
func (s *Server) Address() string { return s.etcd.Clients[0].Addr().String() }

// Wait waits until the member ends by itself, which is an error, or ctx does.
func (s *Server) Wait(ctx context.Context) error {
	select {
	case err := <-s.etcd.Err():
		return fmt.Errorf("embedetcd: the member has ended: %w", err)
	case <-s.done:
		return errRemoved
	case <-ctx.Done():
		return nil
	}
}

var errRemoved = errors.New("embedetcd: the other members have removed this one")

// Stop ends the member without waiting for its clients, and removes the data of Start. A leader lets another member lead
// first. A second Stop does nothing.
func (s *Server) Stop() {
	s.once.Do(func() {
		if s.etcd != nil {
			select {
			case g := <-s.serving:
				g.Stop() // etcd's own Close would wait for clients, for seconds
			default:
			}
			// The transfer of leadership waits for seconds if the others are away, and raft gives it up after this time.
			election := time.Duration(s.etcd.Config().ElectionMs) * time.Millisecond
			giveUp := time.AfterFunc(election, s.etcd.Server.HardStop)
			s.etcd.Server.Stop()
			giveUp.Stop()
			s.etcd.Close()
		}
		if s.temp != "" {
			_ = os.RemoveAll(s.temp) // the next Start tries again
		}
	})
}

// TempFolder makes a temporary folder whose name has a prefix and the id of this process, and removes those of processes
// that were killed.
func TempFolder(prefix string) (string, error) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	if err != nil {
		return "", err
	}
	for _, folder := range left {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(folder), prefix), "-")
		if pid, err := strconv.Atoi(owner); err == nil && ended(pid) {
			_ = os.RemoveAll(folder)
		}
	}
	return os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-*")
}

// ended reports whether there is no process with an id.
func ended(pid int) bool {
	p, err := os.FindProcess(pid) // fails on Windows if there is none
	if err != nil {
		return true
	}
	defer p.Release()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
