package database

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
)

// The bounds of a start and a stop are long, because other tests may keep the machine busy.
const (
	startTimeout = 2 * time.Minute
	stopTimeout  = time.Minute
)

// Server is one server process and its data. Its methods may be called from any goroutine.
type Server struct {
	cfg       Config
	product   product
	folder    string
	port      int
	reaper    *child.Reaper
	databases atomic.Int64

	mu     sync.Mutex
	cmd    *exec.Cmd     // nil while stopped
	ended  chan struct{} // closed when cmd has ended
	closed bool
}

// Start runs a server until the end of the test. It calls Require first.
func Start(t testing.TB, cfg Config) *Server {
	t.Helper()
	Require(t, cfg.Kind)
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
		s, err := newServer(ctx, cfg)
		if err != nil {
			return nil, err
		}
		err = s.Restart(ctx)
		if err == nil {
			return s, nil
		}
		err = errors.Join(err, s.Close())
		// Another process may have taken the port meanwhile.
		if attempt == 3 || !strings.Contains(err.Error(), s.product.taken()) {
			return nil, err
		}
	}
}

func newServer(ctx context.Context, cfg Config) (*Server, error) {
	p, err := install(cfg.Kind)
	if err != nil {
		return nil, err
	}
	ports, err := child.FreePorts(1)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "database-")
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	s := &Server{cfg: cfg, product: p, folder: folder, port: ports[0]}
	s.reaper, err = child.StartReaper(folder, p.quit())
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare %v: %w", cfg.Kind, err), s.Close())
	}
	return s, nil
}

func (s *Server) prepare(ctx context.Context) error {
	if err := s.makeFolders(); err != nil {
		return err
	}
	cmds, err := s.product.prepare(s)
	if err != nil {
		return err
	}
	for _, cmd := range cmds {
		if _, err := s.run(ctx, cmd); err != nil {
			return err
		}
	}
	return nil
}

// makeFolders makes what belongs to the user the server runs as.
func (s *Server) makeFolders() error {
	if err := errors.Join(os.Mkdir(s.data(), 0o700), os.Mkdir(s.journal(), 0o700)); err != nil {
		return err
	}
	if s.cfg.Disk != 0 {
		if err := syscall.Mount("tmpfs", s.data(), "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", s.cfg.Disk)); err != nil {
			return fmt.Errorf("mount a small disk: %w", err)
		}
	}
	who, err := runsAs()
	if err != nil || who == nil {
		return err
	}
	var errs []error
	for _, folder := range []string{s.folder, s.data(), s.journal()} {
		errs = append(errs, os.Chown(folder, int(who.Uid), int(who.Gid)))
	}
	return errors.Join(errs...)
}

// runsAs returns the user that the server runs as: nobody instead of root, which both refuse.
// Nil is the user of this process.
func runsAs() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("id of user nobody: %w", err)
	}
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("group of user nobody: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }
func (s *Server) log() string  { return filepath.Join(s.folder, "log") }

// journal is for PostgreSQL's write-ahead log. It is never on the small disk, because the
// server panics where it cannot write that.
func (s *Server) journal() string { return filepath.Join(s.folder, "journal") }

// Addr returns the server's "host:port". A restart does not change it.
func (s *Server) Addr() string { return child.Address(s.port) }

// Restart starts a server that was stopped or killed, with the data and the address it had,
// and returns when it serves.
func (s *Server) Restart(ctx context.Context) error {
	ended, err := s.launch()
	if err != nil {
		return fmt.Errorf("start %v at %s: %w", s.cfg.Kind, s.Addr(), err)
	}
	if err := s.await(ctx, ended); err != nil {
		log, _ := os.ReadFile(s.log()) // err says what went wrong
		return fmt.Errorf("start %v at %s: %w:\n%s", s.cfg.Kind, s.Addr(), err, log)
	}
	return nil
}

// launch starts the process, and returns a channel that is closed when it has ended.
func (s *Server) launch() (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errors.New("it was closed")
	case s.cmd != nil:
		return nil, errors.New("it runs")
	}
	log, err := os.Create(s.log())
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own handle
	cmd := s.product.serve(s)
	cmd.Stdout, cmd.Stderr = log, log
	if err := s.disown(cmd); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its log tells how it ended
	}()
	s.cmd, s.ended = cmd, ended
	return ended, s.reaper.Adopt(cmd.Process.Pid)
}

// disown lets a program run as the server's user, in the data folder, out of reach of signals
// to our process group.
func (s *Server) disown(cmd *exec.Cmd) error {
	who, err := runsAs()
	if err != nil {
		return err
	}
	cmd.Dir = s.data()
	cmd.Env = append(cmd.Environ(), "LC_ALL=C", "HOME="+s.data())
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true}
	return nil
}

// await returns when the server serves.
func (s *Server) await(ctx context.Context, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond) // it tells nobody but its log when it serves
	defer again.Stop()
	for {
		log, err := os.ReadFile(s.log())
		if err != nil {
			return err
		}
		if bytes.Contains(log, []byte(s.product.ready())) {
			return nil
		}
		select {
		case <-again.C:
		case <-ended:
			return errors.New("it ended")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// run runs a program as the server's user to its end, and returns what it prints.
func (s *Server) run(ctx context.Context, cmd *exec.Cmd) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.disown(cmd); err != nil {
		return "", err
	}
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // fails only if it has ended
	defer stop()
	err := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: %w", filepath.Base(cmd.Path), context.Cause(ctx))
	case err != nil:
		return "", fmt.Errorf("%s: %w:\n%s%s", filepath.Base(cmd.Path), err, &out, &errs)
	}
	return out.String(), nil
}

// Stop ends the server in an orderly way, and keeps its data for Restart. Clients that are
// connected are cut off.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return nil
	}
	if err := s.cmd.Process.Signal(s.product.stop()); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %v at %s: %w", s.cfg.Kind, s.Addr(), err)
	}
	late := time.NewTimer(stopTimeout)
	defer late.Stop()
	select {
	case <-s.ended:
		s.cmd = nil
		return nil
	case <-late.C:
		return errors.Join(fmt.Errorf("stop %v at %s: it did not end within %v", s.cfg.Kind, s.Addr(), stopTimeout), s.killLocked())
	}
}

// Kill ends the server, with all of its processes, as a crash would, and keeps its data for
// Restart.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.killLocked()
}

func (s *Server) killLocked() error {
	if s.cmd == nil {
		return nil
	}
	if err := killAll(s.cmd.Process.Pid); err != nil {
		return fmt.Errorf("kill %v at %s: %w", s.cfg.Kind, s.Addr(), err)
	}
	<-s.ended
	s.cmd = nil
	return nil
}

// Close ends the server and removes its data. A second Close does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.reaper.Finish()
	if s.cmd != nil {
		<-s.ended
		s.cmd = nil
	}
	return err
}

// Exec runs SQL statements as the administrator, in a database, or in none of the tests if
// its name is empty, and returns what they print: a line for each row, with columns between
// tabs (MariaDB) or bars (PostgreSQL).
func (s *Server) Exec(ctx context.Context, database, statements string) (string, error) {
	out, err := s.run(ctx, s.product.query(s, database, statements))
	if err != nil {
		return "", fmt.Errorf("%v at %s: %w", s.cfg.Kind, s.Addr(), err)
	}
	return strings.TrimSuffix(out, "\n"), nil
}

// Database is a database of a server, and the user that may do everything in it, and nothing
// else.
type Database struct {
	Server *Server
	Name   string
}

// Create makes a new database, which is empty.
func (s *Server) Create(ctx context.Context) (Database, error) {
	d := Database{Server: s, Name: fmt.Sprintf("test_%d", s.databases.Add(1))}
	for _, statement := range s.product.create(d.Name) {
		if _, err := s.Exec(ctx, "", statement); err != nil {
			return Database{}, fmt.Errorf("create database %s: %w", d.Name, err)
		}
	}
	return d, nil
}

// DSN returns what the drivers call a data source name: of github.com/go-sql-driver/mysql
// without parameters, of pgx a URL.
func (d Database) DSN() string { return d.DSNVia(d.Server.Addr()) }

// DSNVia is DSN through another address, such as that of a proxy.
func (d Database) DSNVia(addr string) string {
	return d.Server.product.dsn(tester, testersPassword, addr, d.Name)
}

// AdminDSN is DSN with the administrator as the user. A setting such as MariaDB's read_only
// does not bind it.
func (d Database) AdminDSN() string {
	return d.Server.product.dsn(admin, adminsPassword, d.Server.Addr(), d.Name)
}
