package world

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/elasticjob-go/elasticjob/ops"
)

// Workers is how many there are. They are counted from 0.
const Workers = 3

// Address is that of a worker's host. The whole of 127.0.0.0/8 is this one.
func Address(worker int) string { return fmt.Sprintf("127.0.0.%d", 21+worker) }

// crew are the processes of the workers.
type crew struct {
	orders orders

	mu        sync.Mutex
	processes [Workers]*process
}

// process is a worker. The end of its standard input ends it, however this process ends.
type process struct {
	cmd *exec.Cmd
	in  io.Closer
}

func (c *crew) start(number int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.processes[number] != nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o := c.orders
	o.Number = number
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), ordersIn+"="+string(text))
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("worker %d: %w", number, err)
	}
	c.processes[number] = &process{cmd, in}
	return nil
}

// kill returns when the process has ended.
func (c *crew) kill(number int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.processes[number]
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill() // fails if it has ended
	_ = p.cmd.Wait()         // says that it was killed
	_ = p.in.Close()         // nobody reads it any more
	c.processes[number] = nil
}

// are reports whether instances are those of the workers that run. One of a worker that was killed seems to be
// there for a while.
func (c *crew) are(instances []ops.InstanceInfo) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	running := 0
	for number, p := range c.processes {
		if p == nil {
			continue
		}
		running++
		id := fmt.Sprintf("%s@-@%d-", Address(number), p.cmd.Process.Pid) // and something random
		if !slices.ContainsFunc(instances, func(i ops.InstanceInfo) bool { return strings.HasPrefix(i.ID, id) }) {
			return false
		}
	}
	return len(instances) == running
}

func (c *crew) close() {
	for number := range c.processes {
		c.kill(number)
	}
}

// Kill ends a worker as kill -9 does. Others think for 5 s that it is there. It is started again at the end of
// the test, unless Restart has done so. Tests that kill are not to run in parallel.
func (w *World) Kill(t testing.TB, worker int) {
	t.Helper()
	w.Start(t)
	w.crew.kill(worker)
	t.Cleanup(func() { w.Restart(t, worker) })
}

// Restart starts a worker that was killed, and returns when all workers have all jobs again.
func (w *World) Restart(t testing.TB, worker int) {
	t.Helper()
	if err := w.crew.start(worker); err != nil {
		t.Fatal(err)
	}
	if err := w.complete(); err != nil {
		t.Fatal(err)
	}
}
