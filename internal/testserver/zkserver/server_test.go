package zkserver_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// victim is an environment variable. If it is set, this binary starts a server and waits to
// be killed.
const victim = "ZKSERVER_TEST_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(victim) != "" {
		s, err := zkserver.Run(context.Background(), zkserver.Config{})
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println(s.Pid(), s.Folder())
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func dial(t *testing.T, addrs ...string) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect(addrs, time.Minute, zk.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		for range events { // until the client's goroutines have ended
		}
	})
	return conn
}

func TestKeepsItsDataOverStopAndKill(t *testing.T) {
	s := zkserver.Start(t, zkserver.Config{})
	for path, end := range map[string]func() error{"/stopped": s.Stop, "/killed": s.Kill} {
		conn := dial(t, s.Addr())
		if _, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
		// A server that begins may take a connection and never answer it. The client waits for more than six times the
		// session's time then, also when it is closed.
		conn.Close()
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ok, _, err := dial(t, s.Addr()).Exists(path); err != nil || !ok {
			t.Errorf("%s: %v, %v", path, ok, err)
		}
	}
}

func TestPauseHoldsAnswersBack(t *testing.T) {
	s := zkserver.Start(t, zkserver.Config{})
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if answer, err := s.Command(ctx, "ruok"); err == nil {
		t.Errorf("a paused server answers %q", answer)
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if answer, err := s.Command(t.Context(), "ruok"); err != nil || answer != "imok" {
		t.Errorf("a resumed server answers %q, %v", answer, err)
	}
}

func TestTLS(t *testing.T) {
	s := zkserver.Start(t, zkserver.Config{TLS: true})
	conn, err := tls.Dial("tcp", s.TLSAddr(), &tls.Config{RootCAs: s.Authority()})
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	var untrusted *tls.CertificateVerificationError
	if conn, err := tls.Dial("tcp", s.TLSAddr(), &tls.Config{RootCAs: x509.NewCertPool()}); !errors.As(err, &untrusted) {
		t.Errorf("without its authority: %v, %v", conn, err)
	}
}

func TestEnsembleSurvivesItsLeader(t *testing.T) {
	e := zkserver.StartEnsemble(t, 3, zkserver.Config{})
	leader, err := e.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn := dial(t, e.Addrs()...)
	if _, err := conn.Create("/before", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	for {
		ok, _, err := conn.Exists("/before")
		if errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) {
			continue // the client has not found a server of the new quorum yet
		}
		if err != nil || !ok {
			t.Fatalf("/before: %v, %v", ok, err)
		}
		break
	}
	if err := leader.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestMetric(t *testing.T) {
	s := zkserver.Start(t, zkserver.Config{})
	if n, err := s.Metric(t.Context(), "zk_global_sessions"); err != nil || n != 0 {
		t.Errorf("sessions: %d, %v", n, err)
	}
	if _, err := s.Metric(t.Context(), "zk_nonsense"); err == nil {
		t.Error("no error for a metric that does not exist")
	}
}

func TestCloseRemovesEverything(t *testing.T) {
	zkserver.Require(t)
	s, err := zkserver.Run(t.Context(), zkserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(s.Folder()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	if err := s.Restart(t.Context()); err == nil {
		t.Error("a closed server was started")
	}
}

func TestStartIsBounded(t *testing.T) {
	zkserver.Require(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := zkserver.Run(ctx, zkserver.Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestNothingIsLeftWhenTheProcessIsKilled(t *testing.T) {
	zkserver.Require(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victim+"=1")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	pid, folder, ok := strings.Cut(strings.TrimSpace(line), " ")
	if err != nil || !ok || pid == "error:" {
		t.Fatalf("the process says %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed

	left := func() bool {
		_, noFolder := os.Stat(folder)
		command, _ := os.ReadFile("/proc/" + pid + "/cmdline")
		return noFolder == nil || strings.Contains(string(command), folder)
	}
	again := time.NewTicker(10 * time.Millisecond) // the processes are not ours, so no signal tells us
	defer again.Stop()
	for deadline := time.After(time.Minute); left(); {
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("process %s or folder %s is left", pid, folder)
		}
	}
}

func BenchmarkStart(b *testing.B) {
	zkserver.Require(b)
	for name, cfg := range map[string]zkserver.Config{"plain": {}, "tls": {TLS: true}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := zkserver.Run(b.Context(), cfg)
				if err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("ensemble of three", func(b *testing.B) {
		for b.Loop() {
			e, err := zkserver.RunEnsemble(b.Context(), 3, zkserver.Config{})
			if err != nil {
				b.Fatal(err)
			}
			if err := e.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
