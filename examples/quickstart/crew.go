package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// worker is one instance of the job, a process of its own.
type worker struct {
	name  string
	pid   int
	cmd   *exec.Cmd
	in    io.WriteCloser // a line makes it leave, the end of it makes it end
	fate  fate
	since time.Time // of its fate
	gone  bool      // the process has ended
}

// fate is what has been done to a worker.
type fate int

const (
	working fate = iota
	leaving
	left
	killed
)

// crew starts the workers and passes on what they report. One goroutine calls its methods and
// receives from heard. The goroutines that read from the processes end with them.
type crew struct {
	workers   []*worker
	heard     chan word
	listening sync.WaitGroup
}

// word is what was heard of a worker: a report, a line on its standard error, or that it
// has ended.
type word struct {
	from   *worker
	report *report
	says   string
	ended  bool
	err    error
}

func newCrew() *crew { return &crew{heard: make(chan word)} }

// start starts the next worker: A, B, C …
func (c *crew) start(o orders) (*worker, error) {
	w := &worker{name: string(rune('A' + len(c.workers))), since: time.Now()}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", w.name, err)
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("start %s: orders: %w", w.name, err)
	}
	w.cmd = exec.Command(self, workerCommand, string(text))
	w.cmd.Stderr = &lines{do: func(line string) { c.heard <- word{from: w, says: line} }}
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", w.name, err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", w.name, err)
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", w.name, err)
	}
	w.pid = w.cmd.Process.Pid
	c.workers = append(c.workers, w)
	c.listening.Go(func() { c.listen(w, out) })
	return w, nil
}

// listen passes on what a worker reports, until it has ended.
func (c *crew) listen(w *worker, out io.Reader) {
	in := bufio.NewScanner(out)
	for in.Scan() {
		var r report
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			c.heard <- word{from: w, says: in.Text()}
			continue
		}
		c.heard <- word{from: w, report: &r}
	}
	err := errors.Join(in.Err(), w.cmd.Wait())
	c.heard <- word{from: w, ended: true, err: err}
}

// kill ends a worker with SIGKILL, so it cannot clean up or report anything.
func (c *crew) kill(w *worker) error {
	w.fate, w.since = killed, time.Now()
	if err := w.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill %s: %w", w.name, err)
	}
	return nil
}

// leave asks a worker to leave gracefully.
func (c *crew) leave(w *worker) error {
	w.fate, w.since = leaving, time.Now()
	if _, err := io.WriteString(w.in, "leave\n"); err != nil {
		return fmt.Errorf("tell %s to leave: %w", w.name, err)
	}
	return nil
}

// close kills the workers that still live, and waits until all have ended.
func (c *crew) close() {
	for _, w := range c.workers {
		if !w.gone {
			_ = w.cmd.Process.Kill() // fails if it has ended
		}
	}
	go func() {
		c.listening.Wait()
		close(c.heard)
	}()
	for range c.heard {
		// The goroutines that send to heard must not wait for ever.
	}
}

// byPID returns the worker with the process id, nil if there is none.
func (c *crew) byPID(pid int) *worker {
	for _, w := range c.workers {
		if w.pid == pid {
			return w
		}
	}
	return nil
}

// lines is a writer that divides what it gets into lines.
type lines struct {
	do   func(line string)
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.do(string(line))
		l.rest = rest
	}
}
