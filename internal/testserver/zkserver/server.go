package zkserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
)

// startTimeout bounds a start. It is long, because other tests may keep the machine busy.
const startTimeout = 2 * time.Minute

// Server is one ZooKeeper process and its data. Its methods may be called from any
// goroutine.
type Server struct {
	cfg           Config
	folder        string
	port, tlsPort int
	authority     *x509.CertPool
	client        tls.Certificate
	id            int    // in an ensemble
	peers         []peer // of an ensemble
	reaper        *child.Reaper

	mu     sync.Mutex
	cmd    *exec.Cmd     // nil while stopped
	ended  chan struct{} // closed when cmd has ended
	closed bool
}

// Start runs a server until the end of the test. It calls Require first.
func Start(t testing.TB, cfg Config) *Server {
	t.Helper()
	Require(t)
	s, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Run starts a server and returns when it serves. The caller has to close it. ctx bounds the
// start only.
//
// Errors: ErrNotInstalled.
func Run(ctx context.Context, cfg Config) (*Server, error) {
	for attempt := 1; ; attempt++ {
		s, err := newServer(cfg)
		if err != nil {
			return nil, err
		}
		err = s.Restart(ctx)
		if err == nil {
			return s, nil
		}
		err = errors.Join(err, s.Close())
		// Another process may have taken the port meanwhile.
		if attempt == 3 || !strings.Contains(err.Error(), "Address already in use") {
			return nil, err
		}
	}
}

func newServer(cfg Config) (*Server, error) {
	if _, _, err := installed(); err != nil {
		return nil, err
	}
	ports, err := child.FreePorts(2)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "zkserver-")
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	s := &Server{cfg: cfg.withDefaults(), folder: folder, port: ports[0], tlsPort: ports[1]}
	s.reaper, err = child.StartReaper(folder, "KILL")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	if s.cfg.TLS {
		if err := s.certify(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Addr returns the "host:port" of the plain client port. A restart does not change it.
func (s *Server) Addr() string { return child.Address(s.port) }

// TLSAddr returns the "host:port" of the port with TLS, if Config.TLS is set.
func (s *Server) TLSAddr() string { return child.Address(s.tlsPort) }

// Authority returns the authority that signed the certificate of the server.
func (s *Server) Authority() *x509.CertPool { return s.authority }

// ClientCertificate returns a certificate of a client that the server trusts.
func (s *Server) ClientCertificate() tls.Certificate { return s.client }

func (s *Server) path(name string) string { return filepath.Join(s.folder, name) }

// Restart starts a server that was stopped or killed, with the data and the ports it
// had, and returns when it serves.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.launch(); err != nil {
		return err
	}
	return s.await(ctx)
}

// launch starts the process.
func (s *Server) launch() error {
	java, classPath, err := installed()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errors.New("start a ZooKeeper server: it was closed")
	case s.cmd != nil:
		return errors.New("start a ZooKeeper server: it runs")
	}
	if err := os.WriteFile(s.path("zoo.cfg"), []byte(s.file()), 0o600); err != nil {
		return fmt.Errorf("configure a ZooKeeper server: %w", err)
	}
	if err := os.WriteFile(s.path("myid"), fmt.Appendln(nil, s.id), 0o600); err != nil {
		return fmt.Errorf("configure a ZooKeeper server: %w", err)
	}
	log, err := os.Create(s.path("log"))
	if err != nil {
		return fmt.Errorf("log of a ZooKeeper server: %w", err)
	}
	defer log.Close() // the process has its own handle

	args := append(s.cfg.jvm(), "-Xshare:auto", "-XX:-UsePerfData",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
		"-Dzookeeper.jmx.log4j.disable=true",
		"-cp", classPath, "org.apache.zookeeper.server.quorum.QuorumPeerMain", s.path("zoo.cfg"))
	cmd := exec.Command(java, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a ZooKeeper server: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its log tells how it ended
	}()
	s.cmd, s.ended = cmd, ended
	return s.reaper.Adopt(cmd.Process.Pid)
}

// await returns when the server serves. It checks that no other server has the port.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	again := time.NewTicker(10 * time.Millisecond) // the server does not tell us when it serves
	defer again.Stop()
	for {
		answer, err := s.askWhetherUp(ctx)
		if err == nil && strings.Contains(answer, "dataDir="+s.folder) && s.listensWithTLS(ctx) {
			return nil
		}
		select {
		case <-again.C:
		case <-ended:
			log, _ := os.ReadFile(s.path("log"))
			return fmt.Errorf("the ZooKeeper server at %s ended while it started:\n%s", s.Addr(), log)
		case <-ctx.Done():
			log, _ := os.ReadFile(s.path("log"))
			return fmt.Errorf("the ZooKeeper server at %s does not serve: %w (%w):\n%s", s.Addr(), context.Cause(ctx), err, log)
		}
	}
}

// askWhetherUp asks for the server's configuration. It waits for a short time only: a
// server that is asked before it has opened its database never answers.
func (s *Server) askWhetherUp(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	return s.Command(ctx, "conf")
}

// listensWithTLS reports whether the port with TLS is open, or not wanted. It opens after
// the plain one.
func (s *Server) listensWithTLS(ctx context.Context) bool {
	if !s.cfg.TLS {
		return true
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.TLSAddr())
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// Stop ends the server in an orderly way, and keeps its data for Restart.
func (s *Server) Stop() error { return s.end(syscall.SIGTERM) }

// Kill ends the server as a crash would, and keeps its data for Restart.
func (s *Server) Kill() error { return s.end(syscall.SIGKILL) }

func (s *Server) end(signal syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return nil
	}
	if err := s.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end the ZooKeeper server at %s: %w", s.Addr(), err)
	}
	<-s.ended
	s.cmd = nil
	return nil
}

// Pause stops the process without ending it, as a very long garbage collection does. It
// returns when the process has stopped.
func (s *Server) Pause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.signalLocked(syscall.SIGSTOP); err != nil {
		return err
	}
	if _, err := syscall.Wait4(s.cmd.Process.Pid, nil, syscall.WUNTRACED, nil); err != nil {
		return fmt.Errorf("pause the ZooKeeper server at %s: %w", s.Addr(), err)
	}
	return nil
}

// Resume lets a paused process go on.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signalLocked(syscall.SIGCONT)
}

func (s *Server) signalLocked(signal syscall.Signal) error {
	if s.cmd == nil {
		return fmt.Errorf("the ZooKeeper server at %s does not run", s.Addr())
	}
	if err := s.cmd.Process.Signal(signal); err != nil {
		return fmt.Errorf("signal the ZooKeeper server at %s: %w", s.Addr(), err)
	}
	return nil
}

// Close kills the server and removes its data. A second Close does nothing.
func (s *Server) Close() error {
	err := s.Kill()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return errors.Join(err, s.reaper.Finish())
}

// Command sends one of ZooKeeper's four letter words, such as "mntr", and returns the
// answer.
func (s *Server) Command(ctx context.Context, word string) (string, error) {
	answer, err := s.command(ctx, word)
	if err != nil {
		return "", fmt.Errorf("%s to the ZooKeeper server at %s: %w", word, s.Addr(), err)
	}
	return answer, nil
}
