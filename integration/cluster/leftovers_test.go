package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/elasticjob-go/elasticjob/integration/history"
)

// victimVariable is set for a test binary that only starts a cluster and waits to be killed.
const victimVariable = "ELASTICJOB_INTEGRATION_VICTIM"

func TestMain(m *testing.M) {
	PlayRole()
	if os.Getenv(victimVariable) != "" {
		if err := victim(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// remains is what a victim has started and written.
type remains struct {
	Processes []int
	Folders   []string
}

func victim() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := StartEtcd(ctx, 0)
	if err != nil {
		return err
	}
	c, err := New(ctx, store, "victim", history.Limits{Session: 2 * time.Second})
	if err != nil {
		return err
	}
	awake, err := c.Start("w1", Options{})
	if err != nil {
		return err
	}
	asleep, err := c.Start("w2", Options{})
	if err != nil {
		return err
	}
	if err := asleep.Pause(); err != nil {
		return err
	}
	members := store.(*etcdStore)
	r := remains{
		Processes: []int{awake.cmd.Process.Pid, asleep.cmd.Process.Pid, c.folder.broom.Process.Pid, members.folder.broom.Process.Pid},
		Folders:   []string{c.folder.path, members.folder.path},
	}
	for _, m := range members.members {
		r.Processes = append(r.Processes, m.cmd.Process.Pid)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return err
	}
	select {} // until it is killed
}

// When the orchestrator is killed, it leaves no file and no process, not even one that was
// stopped by a signal.
func TestNothingIsLeftOfAKilledOrchestrator(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), victimVariable+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	var r remains
	unread := json.Unmarshal(lines.Bytes(), &r)
	var ends []int
	for _, pid := range r.Processes {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Errorf("process %d: %v", pid, err)
			continue
		}
		defer unix.Close(fd)
		ends = append(ends, fd)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it says that it was killed
	if unread != nil {
		t.Fatalf("the victim said %q", lines.Text())
	}
	for i, fd := range ends {
		if err := awaitEnd(fd); err != nil {
			t.Errorf("process %d of %v still runs (%v)", r.Processes[i], r.Processes, err)
		}
	}
	for _, folder := range r.Folders {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there (%v)", folder, err)
		}
	}
}

// awaitEnd waits until a process that is not our child has ended.
func awaitEnd(pidfd int) error {
	const patience = 30 * time.Second
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(patience.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return fmt.Errorf("after %v", patience)
		default:
			return nil
		}
	}
}
