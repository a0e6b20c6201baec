package jobtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/job"
)

// Process is a process of a [Cluster]: a [job.Node] on a registry of its own, with a session
// of 10 s (1 s in real time). Die and the other faults may be called from any goroutine, handlers too. A
// fault of a process that has died or left fails the test, because it would do nothing; only Die may be repeated.
type Process struct {
	c        *Cluster
	address  string
	registry *memory.Registry
	node     *job.Node
	witness  *witness
	broken   spell        // of the link
	ahead    atomic.Int64 // of the clock, in nanoseconds

	mu   sync.Mutex
	gone string // hasDied or hasLeft; empty while it lives
}

// How a process can have gone.
const (
	hasDied = "has died"
	hasLeft = "has left"
)

// Process starts a process without jobs. The options hold for each of its jobs. Another
// process may have the same address, as after a restart.
func (c *Cluster) Process(address string, opts ...job.Option) *Process {
	c.t.Helper()
	return c.process(address, opts, func(in *Process, config job.NodeConfig) (err error) {
		in.node, err = job.NewNode(in.registry, config)
		return err
	})
}

// Runner starts a process that serves every job of the cluster whose implementation or type it
// offers: see [job.Runner]. The handlers have the names of the jobs that they are for, or of their
// implementations; types stand among the options. Create jobs through Ops.
func (c *Cluster) Runner(address string, handlers map[string]job.Handler, opts ...job.Option) *Process {
	c.t.Helper()
	return c.process(address, opts, func(in *Process, config job.NodeConfig) error {
		runner, err := job.NewRunner(in.registry, job.RunnerConfig{NodeConfig: config, Handlers: handlers})
		if err != nil {
			return err
		}
		in.node = runner.Node
		c.ending.Go(func() {
			if err := runner.Run(context.Background()); err != nil && in.left() == "" { // it ends with Shutdown
				c.recorder.tell(address, "the runner has stopped: "+shown(err))
			}
		})
		return nil
	})
}

// process starts a process whose node begin makes.
func (c *Cluster) process(address string, opts []job.Option, begin func(*Process, job.NodeConfig) error) *Process {
	c.t.Helper()
	registry, err := c.store.Dial(context.Background(), memory.Config{Namespace: namespace, Name: address, SessionTimeout: c.session})
	if err != nil {
		c.t.Fatalf("jobtest: instance %s: %v", address, err)
	}
	in := &Process{c: c, address: address, registry: registry}
	in.witness = &witness{at: in.at}
	err = begin(in, job.NodeConfig{Options: append([]job.Option{
		job.WithIP(address),
		setup.Clock(func() time.Time { return time.Now().Add(time.Duration(in.ahead.Load())) }),
		job.WithObserver(c.recorder.observer(in.witness)), job.WithScope(c.recorder.scope(in.witness)),
	}, opts...)})
	if err != nil {
		_ = registry.Close(context.Background()) // the test ends with the error before it
		c.t.Fatalf("jobtest: instance %s: %v", address, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instances = append(c.instances, in)
	return in
}

// at returns when an event of the process happened. The process's own clock may be wrong. In a bubble an event is
// told at the instant when it happens, in real time later.
func (in *Process) at(e job.Event) time.Time {
	if in.c.isReal {
		return e.Time.Add(-time.Duration(in.ahead.Load()))
	}
	return time.Now()
}

// Schedule joins a job: see [job.Node.Schedule]. It ends the test if that fails. The history says so if the
// registry's configuration is effective and cfg differs from it: see [job.Config].Revision.
func (in *Process) Schedule(cfg job.Config, h job.Handler, opts ...job.Option) *job.Scheduler {
	in.c.t.Helper()
	if gone := in.left(); gone != "" {
		in.c.t.Fatalf("jobtest: Schedule of job %s on the process %s, which %s before: a restart is another Cluster.Process with this address\n%s", cfg.Name, in.address, gone, in.c.recorder)
	}
	s, err := in.node.Schedule(in.c.t.Context(), cfg, h, opts...)
	if err != nil {
		in.c.t.Fatalf("jobtest: %s: %v\n%s", in.address, err, in.c.recorder)
	}
	if s.Status().Differs {
		in.c.recorder.tell(in.address, cfg.Name+" has a configuration that is not in force: the registry's is, whose revision is not smaller")
	}
	return s
}

// Node returns what runs the jobs.
func (in *Process) Node() *job.Node { return in.node }

// Link returns the connection to the store, for faults that Process has no method for.
func (in *Process) Link() *memory.Link { return in.registry.Link() }

// left says how the process has gone; empty while it lives.
func (in *Process) left() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.gone
}

// leave marks the process as gone, unless it is already: then it says how.
func (in *Process) leave(how string) (before string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	before = in.gone
	in.gone = cmp.Or(before, how)
	return before
}

// fails fails the test if the process is gone: what was asked of it does nothing then.
func (in *Process) fails(asked, gone string) bool {
	in.c.t.Helper()
	if gone != "" {
		in.c.fail("jobtest: %s of the process %s, which %s before: it would do nothing\n%s", asked, in.address, gone, in.c.recorder)
	}
	return gone != ""
}

// Shutdown stops the process in order, as SIGTERM should: handlers have the time drain to
// return. It waits for the end, and returns what [job.Node.Shutdown] does. The process may die
// meanwhile; of one that has died before it is an error.
func (in *Process) Shutdown(drain time.Duration) error {
	if in.left() == hasDied {
		return fmt.Errorf("jobtest: shutdown of the process %s, which has died before", in.address)
	}
	in.c.recorder.tell(in.address, "shuts down")
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	err := in.c.left(in.node.Shutdown(ctx))
	if in.leave(hasLeft) != "" {
		return err
	}
	in.broken.stop()
	return errors.Join(err, in.close())
}

// close closes the registry.
func (in *Process) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return in.registry.Close(ctx)
}

// Die ends the process at once, as a crash does. The store hears nothing more from it, and its
// session expires when the time-out has passed. Die returns at once.
//
// The contexts of its handlers end, with coord.ErrClosed, because there is no other way to stop
// them. What a handler does after that would not happen in a process that has died: let it
// return at once. Nothing of it is recorded: its executions have ended with [job.OutcomeCut] and
// [ErrDied]. To see all that follows at this instant, call [Cluster.Advance] with 0.
func (in *Process) Die() {
	in.c.t.Helper()
	if gone := in.leave(hasDied); gone == hasDied || in.fails("Die", gone) {
		return // two handlers may call it at the same moment
	}
	in.c.recorder.bury(in.witness, in.address)
	in.broken.stop()
	in.Link().Cut()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = in.registry.Close(ended)                                      // it reaches nobody
	in.c.ending.Go(func() { _ = in.c.left(in.node.Shutdown(ended)) }) // nor does this; it waits for the handlers
}

// end stops what a test has left running.
func (in *Process) end() {
	if in.leave(hasLeft) != "" {
		return
	}
	in.broken.stop()
	in.Link().Heal()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = in.c.left(in.node.Shutdown(ended)) // the test is over, and has looked at what it wanted to know
	_ = in.close()                         // the same
}

// CutOff cuts the connection to the store for so long from now on, and returns at once: calls
// fail, and if it takes longer than the session's time-out others take its items over.
func (in *Process) CutOff(d time.Duration) {
	in.c.t.Helper()
	in.breakFor("CutOff", d, "is cut off for ", (*memory.Link).Cut)
}

// LoseAnswers lets what the process writes reach the store for so long from now on, but no
// answer come back. So it does not know what it has done. It returns at once.
func (in *Process) LoseAnswers(d time.Duration) {
	in.c.t.Helper()
	in.breakFor("LoseAnswers", d, "loses answers for ", (*memory.Link).DropAnswers)
}

// breakFor breaks the link. Of two such faults the last one counts.
func (in *Process) breakFor(asked string, d time.Duration, what string, by func(*memory.Link)) {
	in.c.t.Helper()
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.fails(asked, in.gone) {
		return
	}
	in.broken.stop()
	in.c.recorder.tell(in.address, what+d.String())
	by(in.Link())
	in.broken.begin(d, func() {
		in.Link().Heal()
		in.c.recorder.tell(in.address, "is connected again")
	})
}

// LoseSession makes the store drop the session at this moment, while the process lives and does
// not hear of it: as if it had been paused for longer than the time-out, and went on (a virtual
// machine that was moved, a long stop of the garbage collector). For up to 9 s (0.8 s in real time) its
// handlers go on while others may run the same items: this is what fencing tokens are for. Then their contexts
// end, and soon it has another session. LoseSession returns at once.
func (in *Process) LoseSession() {
	in.c.t.Helper()
	if in.fails("LoseSession", in.left()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond) // in real time a machine may be slow
	defer cancel()
	session, err := in.registry.Session(ctx)
	if err != nil {
		in.c.recorder.tell(in.address, "has no session to lose: "+shown(err))
		return
	}
	in.breakFor("LoseSession", in.c.session, "loses its session; without a connection for ", (*memory.Link).BlackHole)
	in.c.store.Expire(session.ID())
}

// ClockOff sets how far the clock of the process is ahead of the store's; negative is behind, 0
// sets it right. Timers go on as they are.
func (in *Process) ClockOff(ahead time.Duration) {
	in.c.t.Helper()
	if in.fails("ClockOff", in.left()) {
		return
	}
	in.c.recorder.tell(in.address, "has a clock that is off by "+ahead.String())
	in.ahead.Store(int64(ahead))
}
