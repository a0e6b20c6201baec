package script_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// endWith runs a script until it says "ready", ends its context with a cause, and returns
// what Execute returned. Nothing of the script may run then.
func endWith(t *testing.T, cause error, props map[string]string) error {
	t.Helper()
	held := newHeld(t)
	props["script.env.HOLD"] = held.path
	ctx, cancel := context.WithCancelCause(t.Context())
	h := newHandler(t, script.Options{}, props)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		held.await(t, "ready")
		cancel(cause)
	})
	err := h.Execute(ctx, job.ShardingContext{})
	held.mustBeGone(t)
	noChildren(t)
	return err
}

// noChildren fails the test if this process has children, as zombies are.
func noChildren(t *testing.T) {
	t.Helper()
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("there is a child: %d, %v", pid, err)
	}
}

// A program and all that it has started are asked to end, and killed after the grace.
func TestTheWholeTreeEnds(t *testing.T) {
	tree := map[string]string{"script.command.args": program("tree"), "script.grace": "1s", "script.context.argument": "false"}
	const polite = `exec 9>$HOLD; trap 'echo goodbye; exit 4' TERM; echo ready >&9; while :; do sleep 1000 & wait; done`
	const deaf = `exec 9>$HOLD; trap '' TERM; echo ready >&9; while :; do sleep 1000; done`
	for _, tc := range []struct {
		name  string
		cause error
		props map[string]string
		want  string
	}{
		{"tree", job.ErrTimeout, tree, `job: execution timed out: ended by signal: terminated`},
		{"polite", job.ErrShutdown, sh(polite, "script.grace", "20s"), `job: scheduler shut down: exit code 4`},
		{"0 is no success then", job.ErrShutdown, sh(strings.ReplaceAll(polite, "exit 4", "exit 0"), "script.grace", "20s"), `job: scheduler shut down: exit code 0`},
		{"deaf", job.ErrJobRemoved, sh(deaf, "script.grace", "10ms"), `job: job removed from the registry: ended by signal: killed`},
		{"no grace", job.ErrTimeout, sh(polite, "script.grace", "0s"), `job: execution timed out: ended by signal: killed`},
		{"stopped", job.ErrTimeout, sh(`exec 9>$HOLD; trap 'exit 4' TERM; echo ready >&9; kill -STOP $$; while :; do :; done`, "script.grace", "20s"), `job: execution timed out: exit code 4`},
		{"what is begun at the end", job.ErrTimeout, sh(`exec 9>$HOLD; trap 'sh -c "$LATE" & until test -e $HOLD.late; do sleep 0.01; done; exit 4' TERM; echo ready >&9; while :; do sleep 1000 & wait; done`,
			"script.grace", "20s", "script.env.LATE", `exec 3>&2 2>/dev/null; trap 'echo asked >&3; exit' TERM; : >$HOLD.late; while :; do sleep 0.01; done`), `job: execution timed out: exit code 4: asked`},
		{"the item is lost", job.ErrItemLost, sh(deaf, "script.grace", "1h"), `job: item lost: ended by signal: killed`},
		{"the session is lost", coord.ErrSessionLost, sh(deaf, "script.grace", "1h"), coord.ErrSessionLost.Error() + `: ended by signal: killed`},
		{"forks on and on", job.ErrTimeout, sh(`exec 9>$HOLD; trap '' TERM; sh -c "$FORK" & sh -c "$FORK" & echo ready >&9; while :; do sleep 1000; done`, "script.grace", "1ms", "script.env.FORK", `sh -c "$FORK" & :`), `job: execution timed out: ended by signal: killed`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := endWith(t, tc.cause, tc.props)
			if err == nil || !strings.HasSuffix(err.Error(), tc.want) || !errors.Is(err, tc.cause) {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
			if _, ok := errors.AsType[*script.ExitError](err); !ok {
				t.Errorf("%v has no exit", err)
			}
		})
	}
}

// What goes on when the program has ended by itself is ended, too; the program's code counts.
func TestStraysEnd(t *testing.T) {
	for _, tc := range []struct {
		name, text, want string
		strays           bool
	}{
		{"quiet", `exec 9>$HOLD; sleep 1000 & exit 0`, "", true},
		{"deaf, in a session of its own", `exec 9>$HOLD; trap '' TERM; setsid sleep 1000 & exit 3`, "exit code 3", true},
		{"ends by itself", `exec 9>$HOLD; (echo late) & exit 0`, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			held := newHeld(t)
			r := runProps(t, sh(tc.text, "script.env.HOLD", held.path, "script.grace", "50ms"))
			held.mustBeGone(t)
			noChildren(t)
			if (tc.want == "") != (r.Err == nil) || r.Err != nil && !strings.HasSuffix(r.Err.Error(), tc.want) {
				t.Errorf("got %v, want %s", r.Err, tc.want)
			}
			if r.says("went on after it") != tc.strays {
				t.Errorf("logged %v", r.lines)
			}
			if !tc.strays && string(r.Output) != "late\n" {
				t.Errorf("output %q", r.Output)
			}
		})
	}
}

// A worker that is killed leaves nothing behind, however long the grace is.
func TestNothingIsLeftOfAKilledWorker(t *testing.T) {
	held := newHeld(t)
	worker := exec.Command("/proc/self/exe", helperArgument, "worker")
	worker.Env = append(os.Environ(), "HOLD="+held.path)
	worker.Stdout = os.Stderr
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	held.await(t, "ready")
	if err := worker.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = worker.Wait() // it was killed
	held.mustGo(t)
}

// Ctrl-C, and what a service manager sends to all, do not end the supervisor.
func TestASupervisorOutlivesSignals(t *testing.T) {
	held := newHeld(t)
	r := runProps(t, sh(`exec 9>$HOLD; for s in INT TERM HUP QUIT; do kill -$s $PPID; done; echo on`, "script.env.HOLD", held.path))
	if r.Err != nil || string(r.Output) != "on\n" {
		t.Errorf("got %v, %q", r.Err, r.Output)
	}
}

// If the supervisor itself is killed, the kernel kills the program, and the error says what
// may have happened.
func TestAKilledSupervisor(t *testing.T) {
	held := newHeld(t)
	h := newHandler(t, script.Options{}, sh(`exec 9>$HOLD; kill -KILL $PPID; while :; do :; done`, "script.env.HOLD", held.path))
	err := h.Execute(t.Context(), job.ShardingContext{})
	if err == nil || !strings.Contains(err.Error(), "the supervisor has ended (the supervisor: signal: killed); processes of the program may be left") {
		t.Errorf("got %v", err)
	}
	held.mustGo(t)
	noChildren(t)
}

// Nothing of the worker is open in the program, signals are as usual, and its output blocks
// as that of other programs does.
func TestNothingLeaks(t *testing.T) {
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil { // without O_CLOEXEC, by mistake
		t.Fatal(err)
	}
	defer syscall.Close(pipe[0])
	defer syscall.Close(pipe[1])
	r := runProps(t, sh(`ls /proc/$$/fd; readlink /proc/$$/fd/0; grep flags /proc/$$/fdinfo/1; grep -E 'Sig(Blk|Ign)' /proc/self/status`))
	open, signals, _ := strings.Cut(string(r.Output), "SigBlk:")
	const want = "0\n1\n2\n/dev/null\nflags:\t01\n"
	if open != want {
		t.Errorf("got %s (%v), want %s", r.Output, r.Err, want)
	}
	// The C library may use real-time signals for itself.
	const standard = 1<<31 - 1
	for _, text := range strings.Fields(strings.Replace(signals, "SigIgn:", "", 1)) {
		if set, err := strconv.ParseUint(text, 16, 64); err != nil || set&standard != 0 {
			t.Errorf("signals are blocked or ignored: %s, %v", r.Output, err)
		}
	}
}
