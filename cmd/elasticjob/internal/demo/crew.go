//go:build unix

package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// crew are the workers, each in a process of its own. One that ends is started again.
type crew struct {
	command []string
	orders  Orders
	log     *slog.Logger

	mu      sync.Mutex
	closed  bool
	workers [workers]*process
	waiting sync.WaitGroup
}

// process is a worker. The end of its standard input ends it, however this process has ended.
type process struct {
	cmd *exec.Cmd
	in  io.Closer
}

func newCrew(command []string, orders Orders, log *slog.Logger) *crew {
	return &crew{command: command, orders: orders, log: log}
}

// start starts a worker.
func (c *crew) start(number int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	orders := c.orders
	orders.Number = number
	text, err := json.Marshal(orders)
	if err != nil {
		return err
	}
	cmd := exec.Command(c.command[0], append(c.command[1:len(c.command):len(c.command)], string(text))...)
	cmd.Stderr = logWriter{c.log, number}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("worker %d: %w", number+1, err)
	}
	c.workers[number] = &process{cmd, in}
	c.waiting.Go(func() {
		err := cmd.Wait()
		c.log.Info("a worker has ended", "worker", number+1, "because", err)
	})
	return nil
}

// mishap kills a worker, and starts it again some seconds later.
func (c *crew) mishap(ctx context.Context, number int) {
	c.log.Info("killing a worker, to show a failover", "worker", number+1, "address", address(number))
	c.kill(number)
	if !sleep.For(ctx, 15*time.Second) {
		return
	}
	if err := c.start(number); err != nil {
		c.log.Error("a worker does not start", "worker", number+1, "error", err)
	}
}

func (c *crew) kill(number int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.workers[number]; w != nil {
		_ = w.cmd.Process.Kill() // fails if it has ended
		_ = w.in.Close()         // nobody reads it any more
	}
}

// close kills all workers, and waits until they have ended: the store that they would say good-bye to
// ends as well.
func (c *crew) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	for number := range workers {
		c.kill(number)
	}
	c.waiting.Wait()
}

// logWriter logs what a worker says.
type logWriter struct {
	log    *slog.Logger
	number int
}

func (w logWriter) Write(text []byte) (int, error) {
	w.log.Warn("a worker says", "worker", w.number+1, "text", string(text))
	return len(text), nil
}
