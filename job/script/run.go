package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
)

// task is a program to run.
type task struct {
	Args  []string
	Env   []string
	Dir   string
	As    *identity // nil: as this process
	Grace time.Duration
}

// ending is how a program has ended, with all that it had started.
type ending struct {
	// Start is why it could not be started; StartErrno is in it. Empty if it was started.
	Start      string
	StartErrno syscall.Errno
	// Code is the exit code; -1 if Signal has ended it.
	Code   int
	Signal syscall.Signal
	// Asked is whether it was asked to end before it had ended.
	Asked bool
	// Strays is how many processes went on after it for so long that they were ended.
	Strays int
	// Left are processes that could not be ended.
	Left []int
}

// shortGrace is the grace where somebody else may soon run the item: the session or the item
// was lost, or this process has died. A session's context ends at least 200 ms before the
// store can give the item to others.
const shortGrace = 100 * time.Millisecond

// graceFor returns the time that a program has to end after it was asked to.
func graceFor(cause error, grace time.Duration) time.Duration {
	for _, lost := range []error{coord.ErrSessionLost, coord.ErrClosed, job.ErrItemLost} {
		if errors.Is(cause, lost) {
			return min(grace, shortGrace)
		}
	}
	return grace
}

// Execute runs the program for an item.
func (s *settings) Execute(ctx context.Context, sc job.ShardingContext) error {
	if ctx.Err() != nil {
		return fmt.Errorf("script: %w", context.Cause(ctx))
	}
	t, err := s.task(ctx, sc)
	if err != nil {
		return fmt.Errorf("script: %w", err)
	}
	o := newOutput(ctx)
	e, err := o.follow(ctx, t)
	job.SetOutput(ctx, o.end())
	if err == nil {
		err = s.judge(ctx, e, o)
	}
	if err != nil {
		return fmt.Errorf("script: %w", err)
	}
	return nil
}

// task returns what to run for an item.
func (s *settings) task(ctx context.Context, sc job.ShardingContext) (task, error) {
	t := task{Args: s.args[:len(s.args):len(s.args)], Dir: s.directory, Grace: s.grace}
	var err error
	if s.user != "" {
		if t.As, err = identify(s.user, s.group); err != nil {
			return task{}, fmt.Errorf("run as user %s: %w", brief.Quote(s.user), err)
		}
	}
	if t.Env, err = s.environment(ctx, sc, t.As); err != nil {
		return task{}, err
	}
	if s.context {
		text, err := json.Marshal(sc)
		if err != nil {
			return task{}, err
		}
		t.Args = append(t.Args, string(text))
	}
	return t, nil
}

// follow runs a program to its end, and logs what it writes. It logs in its own goroutine,
// which is the handler's: if the logger panics, that ends the program and not the process.
func (o *output) follow(ctx context.Context, t task) (e ending, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer cancel()

	stdout, stdoutWriter, err := os.Pipe()
	if err != nil {
		return ending{}, err
	}
	stderr, stderrWriter, err := os.Pipe()
	if err != nil {
		return ending{}, errors.Join(err, stdout.Close(), stdoutWriter.Close())
	}
	var last *time.Timer // of the log
	working.Go(func() {
		defer close(o.queue)
		var reading sync.WaitGroup
		reading.Go(func() { o.read(stdout, stream{"stdout", slog.LevelInfo}) })
		reading.Go(func() { o.read(stderr, stream{"stderr", slog.LevelWarn}) })
		e, err = t.run(ctx, stdoutWriter, stderrWriter)
		// All is gone that has written to the pipes, or it could not be ended.
		last = time.AfterFunc(patience, func() { o.late.Store(true) })
		err = errors.Join(err, stdout.SetReadDeadline(time.Now().Add(2*patience)), stderr.SetReadDeadline(time.Now().Add(2*patience)))
		reading.Wait()
		err = errors.Join(err, stdout.Close(), stderr.Close())
	})
	o.log(ctx)
	working.Wait()
	last.Stop()
	return e, err
}

// judge says what the end of a program means.
func (s *settings) judge(ctx context.Context, e ending, o *output) error {
	program := brief.Quote(s.args[0])
	if e.Start != "" {
		return fmt.Errorf("start %s: %w", program, &startError{e.Start, e.StartErrno})
	}
	if e.Strays > 0 {
		o.logger.WarnContext(ctx, "processes that the script had started went on after it, and were ended", slog.Int("processes", e.Strays))
	}
	exit := &ExitError{Program: s.args[0], Code: e.Code, Stderr: o.lastWords()}
	if e.Signal != 0 {
		exit.Signal = e.Signal
	}
	switch {
	case len(e.Left) > 0:
		return fmt.Errorf("%s: %w: process %s", program, ErrLeft, listOf(e.Left))
	case e.Asked:
		return fmt.Errorf("%s: %w: %w", program, context.Cause(ctx), exit)
	case e.Signal == 0 && has(s.success, e.Code):
		return nil
	case e.Signal == 0 && has(s.skip, e.Code):
		o.logger.InfoContext(ctx, "skipped: the script had nothing to do", slog.Int("code", e.Code))
		return nil
	}
	err := fmt.Errorf("%s: %w", program, exit)
	if s.retry != nil && (e.Signal != 0 || !has(s.retry, e.Code)) {
		err = job.NoRetry(err)
	}
	return err
}

// ErrLeft: processes of a script could not be ended. They run with rights that this process
// may not touch, or hang in the kernel.
var ErrLeft = errors.New("script: processes could not be ended")

func listOf(pids []int) string {
	var l brief.List
	for _, pid := range pids {
		l.Add(fmt.Sprint(pid))
	}
	return l.String()
}

// startError is why a program could not be started, as the supervisor has told it.
type startError struct {
	text  string
	errno syscall.Errno
}

func (e *startError) Error() string { return e.text }

func (e *startError) Unwrap() error {
	if e.errno == 0 {
		return nil
	}
	return e.errno
}
