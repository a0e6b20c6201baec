package embedetcd_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/embedetcd"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServesAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := embedetcd.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Address()}, DialTimeout: time.Minute, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Put(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	c.Watch(t.Context(), "k") // a server that stops in good order would wait for such a stream
	s.Stop()
	s.Stop()
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAddressInUse(t *testing.T) {
	s, err := embedetcd.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if second, err := embedetcd.Start(t.Context(), s.Address()); err == nil {
		second.Stop()
		t.Error("two servers at one address")
	}
}

func TestStartRemovesWhatKilledProcessesLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(os.TempDir(), fmt.Sprintf("elasticjob-etcd-%d-x", dead.Process.Pid))
	alive := filepath.Join(os.TempDir(), fmt.Sprintf("elasticjob-etcd-%d-x", os.Getppid()))
	for _, dir := range []string{stale, alive} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s, err := embedetcd.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of a dead process: %v", err)
	}
	if _, err := os.Stat(alive); err != nil {
		t.Errorf("the folder of a living process: %v", err)
	}
}
