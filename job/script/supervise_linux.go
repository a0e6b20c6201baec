package script

import (
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Supervise must be the first thing that main does, and TestMain in tests of a program. A
// worker starts its own executable again for each run of a script, as supervisor of the
// script's processes. There Supervise does the work of a supervisor and does not return. In
// the worker itself it returns at once, what New needs.
//
// Initialisers of packages run in supervisors, too: they should be quick and have no effect. They
// see no environment.
//
// In the worker it also keeps other processes of the same user from reading the environment and
// the memory (PR_SET_DUMPABLE 0). So only root gets a core dump, or attaches a debugger.
func Supervise() Supervisor {
	if len(os.Args) == 1 && os.Args[0] == supervisorName {
		os.Exit(supervise(os.NewFile(3, "control"), os.NewFile(4, "reports")))
	}
	return Supervisor{called: true, err: unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)}
}

// lingering is how long what a program has left behind may go on: it often ends by itself
// when it has read what the program wrote.
const lingering = 500 * time.Millisecond

// supervise runs one program, and returns the exit code of the supervisor.
func supervise(control, reports *os.File) int {
	// The kernel kills the program when the thread ends that has started it.
	runtime.LockOSThread()
	// What a terminal or a service manager sends to all is not for us: the worker decides.
	// These are not ignored, because a program would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP)
	_ = os.WriteFile("/proc/self/comm", []byte("script-supervis"), 0) // only for people who look
	closeInPrograms()

	orders, answers := gob.NewDecoder(control), gob.NewEncoder(reports)
	var t task
	if err := orders.Decode(&t); err != nil {
		return 1 // the worker is gone
	}
	e := ending{Code: -1}
	s := supervision{grace: t.Grace, orders: make(chan order, 1), mainEnded: make(chan syscall.WaitStatus, 1), gone: make(chan struct{})}
	pid, err := t.start()
	if err != nil {
		e.Start = err.Error()
		_ = errors.As(err, &e.StartErrno) // without a number it stays 0
	} else {
		_ = answers.Encode(report{Started: true}) // a worker that is gone shows in orders
		go s.reap(pid)
		go s.listen(orders)
		s.follow(&e)
	}
	if answers.Encode(report{Ending: e}) != nil {
		return 1
	}
	return 0
}

// closeInPrograms keeps files that the worker has left open by mistake away from programs.
func closeInPrograms() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// start starts the program: in a session of its own, so that it has no terminal.
func (t task) start() (int, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("adopt its processes: %w", err)
	}
	if t.Dir != "" {
		if info, err := os.Stat(t.Dir); err != nil {
			return 0, fmt.Errorf("working directory: %w", err)
		} else if !info.IsDir() {
			return 0, fmt.Errorf("working directory: %s: %w", t.Dir, syscall.ENOTDIR)
		}
	}
	path, err := t.find()
	if err != nil {
		return 0, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer func() { _ = null.Close() }() // nothing was written
	attributes := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if t.As != nil {
		attributes.Credential = &syscall.Credential{Uid: t.As.UID, Gid: t.As.GID, Groups: t.As.Groups}
	}
	pid, err := syscall.ForkExec(path, t.Args, &syscall.ProcAttr{Dir: t.Dir, Env: t.Env, Files: []uintptr{null.Fd(), 1, 2}, Sys: attributes})
	if err != nil {
		return 0, explain(t.inDir(path), err)
	}
	return pid, nil
}

// find looks for the program, as a shell does: in the program's own PATH, unless its name
// has a slash.
func (t task) find() (string, error) {
	name := t.Args[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	var path string
	for _, variable := range t.Env {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = value
		}
	}
	if err := os.Setenv("PATH", path); err != nil {
		return "", err
	}
	found, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%w in its PATH", syscall.ENOENT)
	}
	return found, err
}

// supervision is what a supervisor knows of its program.
type supervision struct {
	grace     time.Duration
	status    *syscall.WaitStatus // of the program; nil while it runs
	orders    chan order
	mainEnded chan syscall.WaitStatus
	gone      chan struct{} // closed when no process is left
}

// reap waits for all processes of the program. Those whose parents have ended become
// children of the supervisor.
func (s *supervision) reap(main int) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // ECHILD
			close(s.gone)
			return
		case pid == main:
			s.mainEnded <- status
		}
	}
}

// listen takes orders. The end of the worker, however it came, is one.
func (s *supervision) listen(from *gob.Decoder) {
	for {
		var o order
		if from.Decode(&o) != nil {
			s.orders <- order{min(s.grace, shortGrace)}
			return
		}
		s.orders <- o
	}
}

// follow waits until the program has ended, or is to end, and ends what is left of it.
func (s *supervision) follow(e *ending) {
	select {
	case status := <-s.mainEnded:
		s.status = &status
		s.clear(e)
	case o := <-s.orders:
		select {
		case status := <-s.mainEnded: // just before
			s.status = &status
		default:
			e.Asked = true
		}
		e.Left = s.end(o.Grace)
	}
	if s.status == nil {
		select {
		case status := <-s.mainEnded:
			s.status = &status
		default:
			return // it could not be ended
		}
	}
	e.Code = s.status.ExitStatus()
	if s.status.Signaled() {
		e.Signal = s.status.Signal()
	}
}

// clear ends what is left after the program has ended.
func (s *supervision) clear(e *ending) {
	linger := time.NewTimer(lingering)
	defer linger.Stop()
	grace := s.grace
	select {
	case <-s.gone:
		return
	case <-linger.C:
	case o := <-s.orders:
		grace = o.Grace
	}
	e.Strays = len(descendants())
	e.Left = s.end(grace)
}

// ask asks all processes to end.
func ask() {
	for _, p := range descendants() {
		p.signal(syscall.SIGTERM)
		if p.state == "T" {
			p.signal(syscall.SIGCONT) // a stopped one would not notice
		}
	}
}

// end asks all processes to end, kills them after the grace, and returns those that did not
// go.
func (s *supervision) end(grace time.Duration) (left []int) {
	begin := time.Now()
	if grace > 0 {
		// Once: many take a second request for a kill.
		ask()
	}
	for asked := true; asked; {
		rest := time.NewTimer(grace - time.Since(begin))
		select {
		case <-s.gone:
			rest.Stop()
			return nil
		case status := <-s.mainEnded:
			s.status = &status
			// Nobody waits for what is left. It may be new, or have lost the first request: a
			// shell's child does, before it becomes another program.
			ask()
		case o := <-s.orders: // the worker is in a hurry now, or gone
			grace = min(grace, time.Since(begin)+o.Grace)
		case <-rest.C:
			asked = false
		}
		rest.Stop()
	}
	// A process that forks while /proc is read may not be seen. So this goes on until the
	// kernel says that there is none.
	limit := time.NewTimer(killTime)
	defer limit.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		for _, p := range descendants() {
			p.kill()
		}
		again := time.NewTimer(pause)
		select {
		case <-s.gone:
			again.Stop()
			return nil
		case <-limit.C:
			again.Stop()
			return pidsOf(descendants())
		case <-again.C:
		}
	}
}
