package script

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// supervisorName is argument 0 of a supervisor.
const supervisorName = "elasticjob-script-supervisor"

// Bounds of what a supervisor takes.
const (
	// startTime is for the start of the supervisor and of the program.
	startTime = 30 * time.Second
	// killTime is how long processes are killed that do not go.
	killTime = 5 * time.Second
	// answerTime is what the supervisor has beyond these.
	answerTime = 10 * time.Second
)

// order tells a supervisor to end the program.
type order struct{ Grace time.Duration }

// report is what a supervisor tells: first that the program was started, or was not; then how
// it ended.
type report struct {
	Started bool
	Ending  ending
}

// run runs a program under a supervisor of its own: this executable, once again. It returns
// when the program has ended and all that it has started is gone. It closes the writers.
func (t task) run(ctx context.Context, stdout, stderr *os.File) (ending, error) {
	controlReader, control, err := os.Pipe()
	if err != nil {
		return ending{}, errors.Join(err, stdout.Close(), stderr.Close())
	}
	reports, reportsWriter, err := os.Pipe()
	if err != nil {
		return ending{}, errors.Join(err, stdout.Close(), stderr.Close(), controlReader.Close(), control.Close())
	}
	if t.As != nil {
		// So the program may open /dev/stdout. If that is refused, it can still write.
		_ = stdout.Chown(int(t.As.UID), int(t.As.GID))
		_ = stderr.Chown(int(t.As.UID), int(t.As.GID))
	}
	supervisor := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{supervisorName}, Env: []string{"GOMAXPROCS=1", "GOGC=off"}, // scripts may read it
		Stdout: stdout, Stderr: stderr, ExtraFiles: []*os.File{controlReader, reportsWriter},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	started := supervisor.Start()
	err = errors.Join(stdout.Close(), stderr.Close(), controlReader.Close(), reportsWriter.Close())
	if started != nil {
		return ending{}, errors.Join(fmt.Errorf("start the supervisor: %w", started), err, control.Close(), reports.Close())
	}
	w := watch{control: control, orders: gob.NewEncoder(control), reports: make(chan report, 2)}
	var reading sync.WaitGroup
	reading.Go(func() { w.read(reports) })
	e, failed := w.follow(ctx, t)
	// After its last report it has nothing more to do. It may have ended already.
	_ = supervisor.Process.Kill()
	err = errors.Join(err, control.Close())
	if waited := supervisor.Wait(); failed != nil {
		failed = fmt.Errorf("%w (the supervisor: %v); processes of the program may be left", failed, waited)
	}
	reading.Wait()
	return e, errors.Join(failed, err, reports.Close())
}

// watch is what a worker does with a supervisor.
type watch struct {
	control *os.File
	orders  *gob.Encoder
	reports chan report
}

// read reads reports until the supervisor is gone.
func (w *watch) read(from *os.File) {
	defer close(w.reports)
	decoder := gob.NewDecoder(from)
	for {
		var r report
		if decoder.Decode(&r) != nil {
			return
		}
		w.reports <- r
	}
}

var (
	errNoAnswer = errors.New("the supervisor does not answer")
	errGone     = errors.New("the supervisor has ended")
)

// follow gives a supervisor its task, asks it to end it when ctx ends, and returns what it
// reports at the end.
func (w *watch) follow(ctx context.Context, t task) (ending, error) {
	if err := w.tell(t); err != nil {
		return ending{}, err
	}
	limit := time.NewTimer(startTime)
	defer limit.Stop()
	noAnswer := fmt.Errorf("%w within %v: is script.Supervise the first thing that main does?", errNoAnswer, startTime)
	for done := ctx.Done(); ; {
		select {
		case r, ok := <-w.reports:
			switch {
			case !ok:
				return ending{}, errGone
			case !r.Started:
				return r.Ending, nil
			case done != nil:
				limit.Stop()
			}
		case <-done:
			done = nil
			grace := graceFor(context.Cause(ctx), t.Grace)
			if err := w.tell(order{grace}); err != nil {
				return ending{}, err
			}
			limit.Reset(grace + killTime + answerTime)
			noAnswer = errNoAnswer
		case <-limit.C:
			return ending{}, noAnswer
		}
	}
}

// tell sends a task or an order. A supervisor that does not start would not read a large one.
func (w *watch) tell(message any) error {
	if err := w.control.SetWriteDeadline(time.Now().Add(startTime)); err != nil {
		return err
	}
	err := w.orders.Encode(message)
	if errors.Is(err, syscall.EPIPE) {
		return nil // it has ended; its last report is on the way
	}
	return err
}
