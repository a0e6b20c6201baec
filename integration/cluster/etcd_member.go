package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
)

// etcdMember is a process of etcd, running or not.
type etcdMember struct {
	name, folder string
	client, peer string // addresses, each "host:port"
	cluster      string // all members: "name=http://peer,…"
	quota        int64  // how large the database may grow, in bytes; 0 is etcd's default

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

// start starts the process.
func (m *etcdMember) start(s *spawner, f *folder) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	program, err := etcdserver.Program()
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	messages, err := os.OpenFile(f.at(m.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	defer messages.Close() // the process has its own handle
	clients, peers := "http://"+m.client, "http://"+m.peer
	cmd := exec.Command(program,
		"--name", m.name, "--data-dir", m.folder, "--initial-cluster", m.cluster, "--log-level", "error",
		"--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
		"--quota-backend-bytes", strconv.FormatInt(m.quota, 10), "--bcrypt-cost", "4", "--enable-grpc-gateway=false",
		// Without fsync, what was acknowledged survives the end of the process, though not of the machine. That is
		// enough here.
		"--unsafe-no-fsync")
	cmd.Stdout, cmd.Stderr = messages, messages
	if err := s.start(cmd); err != nil {
		return fmt.Errorf("cluster: start %s: %w", m.name, err)
	}
	ended := make(chan struct{})
	m.cmd, m.ended = cmd, ended
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how it ended is in its log
	}()
	return nil
}

// await waits until it serves.
func (m *etcdMember) await(ctx context.Context) error {
	m.mu.Lock()
	ended := m.ended
	m.mu.Unlock()
	for {
		err := m.healthy(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("cluster: %s ended while it started", m.name)
		default:
		}
		if !sleep.For(ctx, 10*time.Millisecond) {
			return fmt.Errorf("cluster: %s does not serve: %w: %w", m.name, context.Cause(ctx), err)
		}
	}
}

// healthy asks whether it has a leader and can read. Its database may be full.
func (m *etcdMember) healthy(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.client+"/health?exclude=NOSPACE", nil)
	if err != nil {
		return err
	}
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

func (m *etcdMember) running() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return false
	}
	select {
	case <-m.ended:
		return false
	default:
		return true
	}
}

func (m *etcdMember) signal(signal syscall.Signal) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return fmt.Errorf("cluster: %s does not run", m.name)
	}
	if err := m.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cluster: signal %s: %w", m.name, err)
	}
	return nil
}

// pause stops the process by a signal, and returns when it stands still.
func (m *etcdMember) pause() error {
	if err := m.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	if _, err := syscall.Wait4(m.cmd.Process.Pid, nil, syscall.WUNTRACED, nil); err != nil {
		return fmt.Errorf("cluster: pause %s: %w", m.name, err)
	}
	return nil
}

// limitFiles makes writes beyond a number of bytes fail.
func (m *etcdMember) limitFiles(bytes uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(m.cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		return fmt.Errorf("cluster: limit the files of %s: %w", m.name, err)
	}
	return nil
}
