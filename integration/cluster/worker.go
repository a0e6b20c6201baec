package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/integration/worker"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

// Worker is one life of one process that takes part in the jobs of a cluster, with a link
// of its own to each member of the store.
type Worker struct {
	// Name is that of the process in the history: "w1.2" is the second life of w1.
	Name string
	// Address is what it registers under.
	Address string

	cluster  *Cluster
	isRunner bool
	links    links
	cmd      *exec.Cmd
	ended    chan struct{} // closed when it has ended and all that it wrote was read

	mu      sync.Mutex
	stdin   io.WriteCloser
	ending  bool   // it was killed, or asked to exit
	paused  bool   // it was stopped by a signal
	fault   string // of its links, by name
	waitErr error
}

// Options of a worker.
type Options struct {
	// Address is what it registers under; the one of its name by default.
	Address string
	// ClockOffset is how wrong its clock is.
	ClockOffset time.Duration
	// Knows is the name of a strategy and of an error handler that it knows, beside those
	// that all workers know.
	Knows string
	// Early is how long before their tick its schedulers claim items (job.WithEarlyClaims).
	Early time.Duration
	// Runner makes it serve the jobs that are Typed, and no others.
	Runner bool
	// Program plays the worker: see BuildStepped. The default is our own executable.
	Program string
}

// Start starts a worker, which joins all jobs of the cluster, or serves those that it finds. It returns when the process
// was started, which is before it has joined.
func (c *Cluster) Start(name string, o Options) (*Worker, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lives[name]++
	w := &Worker{Name: fmt.Sprintf("%s.%d", name, c.lives[name]), Address: o.Address, cluster: c, ended: make(chan struct{})}
	if w.Address == "" {
		w.Address = Address(name)
	}
	var err error
	if w.links, err = newLinks(c.store.Addresses()); err != nil {
		return nil, err
	}
	user, password := c.store.Login()
	config := worker.Config{
		Name: w.Name, Address: w.Address, Store: c.store.Kind(), Servers: w.links.addresses(), Namespace: c.namespace,
		SessionTimeout: c.limits.Session, ClockOffset: o.ClockOffset, Knows: o.Knows, Early: o.Early, Runner: o.Runner, User: user, Password: password,
		Log: c.logPath(w.Name), Fence: c.folder.at("fence"),
	}
	if err := w.start(config, o.Program); err != nil {
		w.links.close()
		return nil, err
	}
	c.workers = append(c.workers, w)
	if w.isRunner = o.Runner; w.isRunner {
		return w, nil
	}
	for _, j := range c.jobs {
		// What an operator has configured meanwhile is no part of this program. It refuses what
		// it does not know until that is taken back.
		if j.Strategy != o.Knows {
			j.Strategy = ""
		}
		if j.ErrorHandler != o.Knows {
			j.ErrorHandler = ""
		}
		if err := w.tell(worker.Command{Join: j.worker()}); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Address returns the address of the worker w1, w2, w3 and so on. Each address is the
// beginning of the next one, so that a comparison of prefixes would mistake them.
func Address(name string) string {
	number, err := strconv.Atoi(name[1:])
	if err != nil {
		return name
	}
	return "10.0.0.1" + strings.Repeat("0", number-1)
}

func (w *Worker) start(config worker.Config, program string) error {
	cmd, err := commandOf(program, roleWorker)
	if err != nil {
		return err
	}
	messages, err := os.Create(w.cluster.folder.at(w.Name + ".out"))
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	defer messages.Close() // the process has its own handle
	cmd.Stderr = messages
	if w.stdin, err = cmd.StdinPipe(); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	// Not StdoutPipe, which Wait closes with what was not read yet.
	out, in, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	defer in.Close()
	cmd.Stdout = in
	if err := w.cluster.spawner.start(cmd); err != nil {
		_ = out.Close()
		return fmt.Errorf("cluster: start %s: %w", w.Name, err)
	}
	w.cmd = cmd
	go w.follow(out)
	return w.send(config)
}

// follow reads what the process writes until it has ended.
func (w *Worker) follow(out *os.File) {
	defer close(w.ended)
	defer out.Close()
	err := history.Decode(out, func(e history.Event) bool {
		w.cluster.tail.add(e)
		return true
	})
	waited := w.cmd.Wait()
	w.links.close()
	w.mu.Lock()
	w.waitErr = waited
	ending := w.ending
	w.mu.Unlock()
	if !ending {
		w.cluster.fail(fmt.Errorf("%s ended by itself: %w", w.Name, errors.Join(err, waited, w.crash())))
	}
}

// crash is what the race detector, or a panic, has written.
func (w *Worker) crash() error {
	content, err := os.ReadFile(w.cluster.folder.at(w.Name + ".out"))
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	for _, sign := range []string{"WARNING: DATA RACE", "panic: ", "fatal error: "} {
		if _, report, found := strings.Cut(string(content), sign); found {
			return fmt.Errorf("%s: %s%.5000s", w.Name, sign, report)
		}
	}
	return nil
}

// send writes a line to its input.
func (w *Worker) send(line any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := json.NewEncoder(w.stdin).Encode(line); err != nil {
		return fmt.Errorf("cluster: tell %s: %w", w.Name, err)
	}
	return nil
}

func (w *Worker) tell(c worker.Command) error { return w.send(c) }

// tellUnlessGone is tell for commands that undo something: a process that was killed or has
// left since then does not need them.
func (w *Worker) tellUnlessGone(kind history.Kind, c worker.Command) error {
	err := w.tell(c)
	if kind == history.Heal && err != nil && !w.Alive() {
		return nil
	}
	return err
}

// event is one about the worker.
func (w *Worker) event(kind history.Kind) history.Event {
	e := history.Now(kind)
	e.Process = w.Name
	return e
}

// Kill sends SIGKILL, and returns when the process is gone. One that was just leaving
// may be gone already.
func (w *Worker) Kill() error {
	w.mu.Lock()
	w.ending = true
	w.mu.Unlock()
	w.cluster.add(w.event(history.Kill))
	if err := w.cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cluster: kill %s: %w", w.Name, err)
	}
	<-w.ended
	return nil
}

// Pause stops the process by a signal, and returns when it stands still.
func (w *Worker) Pause() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	call := history.Mono()
	if err := w.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("cluster: pause %s: %w", w.Name, err)
	}
	if _, err := syscall.Wait4(w.cmd.Process.Pid, nil, syscall.WUNTRACED, nil); err != nil {
		return fmt.Errorf("cluster: pause %s: %w", w.Name, err)
	}
	w.paused = true
	e := w.event(history.Pause)
	e.Call = call
	w.cluster.add(e)
	return nil
}

// Resume lets a paused process go on, unless it was killed meanwhile.
func (w *Worker) Resume() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = false
	w.cluster.add(w.event(history.Resume))
	if err := w.cmd.Process.Signal(syscall.SIGCONT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("cluster: resume %s: %w", w.Name, err)
	}
	return nil
}

// Exit asks the process to leave all jobs and to end; handlers get the time of drain.
func (w *Worker) Exit(drain time.Duration) error {
	w.mu.Lock()
	w.ending = true
	w.mu.Unlock()
	w.cluster.add(w.event(history.Leave))
	return w.tell(worker.Command{Exit: true, Drain: drain})
}

// Wait waits until the process has ended by itself, and returns how.
func (w *Worker) Wait(ctx context.Context) error {
	select {
	case <-w.ended:
	case <-ctx.Done():
		return fmt.Errorf("cluster: %s does not exit: %w", w.Name, context.Cause(ctx))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waitErr != nil {
		return fmt.Errorf("cluster: %s: %w", w.Name, w.waitErr)
	}
	return nil
}

// runs reports whether it can run a job.
func (w *Worker) runs(j Job) bool { return !w.isRunner || j.Typed }

// Join makes it take part in a job, Leave no longer. A runner does so by itself.
func (w *Worker) Join(j Job) error {
	if w.isRunner {
		return nil
	}
	return w.tell(worker.Command{Join: j.worker()})
}

// Leave makes it leave a job.
func (w *Worker) Leave(job string, drain time.Duration) error {
	e := w.event(history.Leave)
	e.Job = job
	w.cluster.add(e)
	return w.tell(worker.Command{Leave: job, Drain: drain})
}

// Trigger makes it trigger all items of a job.
func (w *Worker) Trigger(job string) error { return w.tell(worker.Command{Trigger: job}) }

// SetClock makes its clock wrong by so much from now on. If that is more than a second it is
// trouble for all workers, because the times that it writes to the tree are wrong.
func (w *Worker) SetClock(offset time.Duration) error {
	e := history.Now(history.Fault)
	if offset.Abs() <= time.Second {
		e.Kind = history.Heal
	}
	e.Name = "clock of " + w.Name
	w.cluster.add(e)
	return w.tellUnlessGone(e.Kind, worker.Command{Clock: &offset})
}

// Hang keeps its handlers from returning, whatever their contexts say, until it is called
// with false.
func (w *Worker) Hang(hang bool) error {
	e := w.event(history.Heal)
	if hang {
		e.Kind = history.Fault
	}
	e.Name = "handlers hang"
	w.cluster.add(e)
	return w.tellUnlessGone(e.Kind, worker.Command{Hang: &hang})
}

// The faults that links can have.
const (
	CutOff       = "cut off"
	BlackHole    = "black hole"
	DropAnswers  = "answers dropped"
	DropRequests = "requests dropped"
	Slow         = "slow link"
)

// doFault returns what a fault does to a link.
func doFault(name string) (do func(*proxy.Proxy), ok bool) {
	do, ok = map[string]func(*proxy.Proxy){
		CutOff:       (*proxy.Proxy).Cut,
		BlackHole:    (*proxy.Proxy).BlackHole,
		DropAnswers:  (*proxy.Proxy).DropAnswers,
		DropRequests: (*proxy.Proxy).DropRequests,
		Slow:         func(p *proxy.Proxy) { p.Delay(slowness) },
	}[name]
	return do, ok
}

// slowness is how late all answers are on a slow link.
const slowness = 150 * time.Millisecond

// Break gives the worker's links a fault, until Mend.
func (w *Worker) Break(fault string) error {
	do, ok := doFault(fault)
	if !ok {
		return fmt.Errorf("cluster: links know no fault %q", fault)
	}
	e := w.event(history.Fault)
	e.Name = fault
	w.cluster.add(e)
	w.mu.Lock()
	w.fault = fault
	w.mu.Unlock()
	w.links.each(do)
	return nil
}

// Mend ends the fault of the links.
func (w *Worker) Mend() {
	w.mu.Lock()
	fault := w.fault
	w.fault = ""
	w.mu.Unlock()
	if fault == "" {
		return
	}
	w.links.each((*proxy.Proxy).Heal)
	e := w.event(history.Heal)
	e.Name = fault
	w.cluster.add(e)
}

// Alive reports whether the process runs and was not asked to exit.
func (w *Worker) Alive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.ending
}
