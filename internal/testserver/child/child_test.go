package child_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/elasticjob-go/elasticjob/internal/testserver/child"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFreePortsAreDistinct(t *testing.T) {
	seen := map[int]bool{}
	for range 1000 { // of 22,528: without the reservation one would come again
		ports, err := child.FreePorts(2)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range ports {
			if seen[port] {
				t.Fatalf("port %d is there twice", port)
			}
			seen[port] = true
		}
	}
}

func TestReaperEndsItsProcessesOnly(t *testing.T) {
	folder := t.TempDir()
	reaper, err := child.StartReaper(folder, "TERM")
	if err != nil {
		t.Fatal(err)
	}
	ours := exec.Command("/bin/sh", "-c", "read line", folder)
	deaf := exec.Command("/bin/sh", "-c", "trap '' TERM; echo; read line", folder) // has to be killed
	other := exec.Command("/bin/sh", "-c", "read line")
	for _, cmd := range []*exec.Cmd{ours, deaf, other} {
		if _, err := cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
	}
	trapped, err := deaf.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []*exec.Cmd{ours, deaf, other} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := reaper.Adopt(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := trapped.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := reaper.Finish(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	for name, cmd := range map[string]*exec.Cmd{"signal: terminated": ours, "signal: killed": deaf} {
		if err := cmd.Wait(); err == nil || err.Error() != name {
			t.Errorf("got %v, want %s", err, name)
		}
	}
	if err := other.Process.Kill(); err != nil {
		t.Errorf("a process that has nothing to do with the folder: %v", err)
	}
	_ = other.Wait() // it was killed
}
