package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// worker is one instance of the job, a process of its own.
type worker struct {
	name      string
	cmd       *exec.Cmd
	dismissed bool // it was killed or told to leave
	gone      bool // the process has ended
	lost      bool // it was killed, or lost its session: the registry may not know that a run of it has finished
}

// crew starts the workers and passes on what they report. One goroutine calls its methods and receives the events.
type crew struct {
	workers []*worker
	events  chan event
	readers sync.WaitGroup // one for each worker, until the context of start ends
}

// event is a report of a worker, or its end.
type event struct {
	from   *worker
	report *report
	err    error // of the end
}

// start starts the next worker: A, B, C … It leaves when ctx ends, and is killed if it takes too long for that.
func (c *crew) start(ctx context.Context, s settings) (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w := &worker{name: string(rune('A' + len(c.workers)))}
	w.cmd = exec.CommandContext(ctx, self, "-worker", "-job", s.job, "-store", s.store, "-servers", s.servers, "-dir", s.dir)
	w.cmd.Cancel, w.cmd.WaitDelay = func() error { return w.cmd.Process.Signal(syscall.SIGTERM) }, 10*time.Second
	w.cmd.Stderr = os.Stderr
	_, inErr := w.cmd.StdinPipe() // nothing is written: it ends with this process, see followShow
	out, outErr := w.cmd.StdoutPipe()
	if err = errors.Join(inErr, outErr); err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	c.workers = append(c.workers, w)
	c.readers.Go(func() { c.read(ctx, w, out) })
	return w, nil
}

// dismiss sends SIGTERM, which tells a worker to leave, or SIGKILL, after which it cannot clean up or report anything.
func (w *worker) dismiss(by syscall.Signal) error {
	w.dismissed = true
	if err := w.cmd.Process.Signal(by); err != nil {
		return fmt.Errorf("send %v to %s: %w", by, w.name, err)
	}
	return nil
}

// read passes on what a worker reports, until it has ended.
func (c *crew) read(ctx context.Context, w *worker, out io.Reader) {
	send := func(e event) {
		select {
		case c.events <- e:
		case <-ctx.Done():
		}
	}
	var err error
	for reports := json.NewDecoder(out); err == nil; {
		r := new(report)
		if err = reports.Decode(r); err == nil {
			send(event{from: w, report: r})
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	} else {
		_ = w.cmd.Process.Kill() // nobody reads any more what it says; Wait returns how it has ended
	}
	send(event{from: w, err: errors.Join(err, w.cmd.Wait())})
}
