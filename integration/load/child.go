package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// childVariable tells a process that was started from our own executable to serve.
const childVariable = "ELASTICJOB_LOAD_CHILD"

// Those that serve, and by which name.
const (
	serveServer = "Server"
	serveWorker = "Worker"
	serveBare   = "Bare"
)

// playRole does not return in a process that start has made. A test calls it first, too,
// because its processes are made of the test's executable.
func playRole() {
	name := os.Getenv(childVariable)
	if name == "" {
		return
	}
	if err := serve(name); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve answers the calls that come over standard input. It returns when that ends, which
// it also does when the process that made this one ends in any way.
func serve(name string) error {
	calls := rpc.NewServer()
	var err error
	switch name {
	case serveServer:
		s := &Server{}
		defer s.stop()
		err = calls.RegisterName(name, s)
	case serveWorker:
		err = calls.RegisterName(name, &Worker{})
	case serveBare:
		err = calls.RegisterName(name, &Bare{})
	default:
		err = fmt.Errorf("%s %q: unknown", childVariable, name)
	}
	if err != nil {
		return err
	}
	calls.ServeConn(pipes{os.Stdin, os.Stdout})
	return nil
}

type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

func (p pipes) Close() error { return errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close()) }

// None is what a call says or answers that has nothing to say.
type None struct{}

// child is a process that was made of our own executable.
type child struct {
	name   string
	cmd    *exec.Cmd
	client *rpc.Client
	once   sync.Once
}

// start makes a process. It has the file, if there is one, as its first one after standard
// error. The caller closes the child.
func start(name string, file *os.File) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	cmd.Stderr = os.Stderr
	if file != nil {
		cmd.ExtraFiles = []*os.File{file}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in a terminal reaches only us
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start of %s: %w", name, err)
	}
	return &child{name: name, cmd: cmd, client: rpc.NewClient(pipes{out, in})}, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// close ends the process: by the end of its input, and by a signal if that does not help. A
// second close does nothing.
func (c *child) close() {
	c.once.Do(func() {
		_ = c.client.Close() // fails if the process has ended already
		late := time.AfterFunc(10*time.Second, c.kill)
		_ = c.cmd.Wait() // what the process had to say, it has said
		late.Stop()
	})
}

// kill ends the process as a crash does.
func (c *child) kill() { _ = c.cmd.Process.Kill() } // it fails only if the process has ended already

// call makes a call and waits for the answer, or for the end of ctx.
func call[A, R any](ctx context.Context, c *child, method string, args A) (R, error) {
	var answer R
	made := c.client.Go(c.name+"."+method, args, &answer, make(chan *rpc.Call, 1))
	select {
	case <-made.Done:
		if made.Error != nil {
			return answer, fmt.Errorf("%s %d: %s: %w", c.name, c.pid(), method, made.Error)
		}
		return answer, nil
	case <-ctx.Done():
		var none R // the answer may still be written
		return none, fmt.Errorf("%s %d: %s: %w", c.name, c.pid(), method, context.Cause(ctx))
	}
}

// callAll makes the same call to several processes at once.
func callAll[A, R any](ctx context.Context, children []*child, method string, args A) ([]R, error) {
	type result struct {
		i      int
		answer R
		err    error
	}
	results := make(chan result)
	for i, c := range children {
		go func() {
			answer, err := call[A, R](ctx, c, method, args)
			results <- result{i, answer, err}
		}()
	}
	answers := make([]R, len(children))
	var errs []error
	for range children {
		r := <-results
		answers[r.i] = r.answer
		errs = append(errs, r.err)
	}
	return answers, errors.Join(errs...)
}
