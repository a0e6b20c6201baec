package job_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// host is a node for a test in virtual time, with a view of all that stands in the store.
type host struct {
	*job.Node
	*testing.T
	store *memory.Store
	reg   coord.Registry
	view  coord.View
}

// onNode runs a test with a node. Whatever it leaves running is shut down.
func onNode(t *testing.T, c job.NodeConfig, test func(host)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		reg, err := store.Dial(t.Context(), memory.Config{Namespace: "node"})
		if err != nil {
			t.Fatal(err)
		}
		defer closeRegistry(t, reg)
		view, err := reg.View(t.Context(), "", coord.AllLevels)
		if err != nil {
			t.Fatal(err)
		}
		n, err := job.NewNode(reg, c)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_ = n.Shutdown(ctx) // the test has looked at its errors
		}()
		test(host{n, t, store, reg, view})
	})
}

// schedule starts a job of one item, changed as the test likes.
func (h host) schedule(name string, handle job.HandlerFunc, changes ...func(*job.Config)) *job.Scheduler {
	h.Helper()
	cfg := job.Config{Name: name, Cron: rarely, ShardingTotalCount: 1}
	for _, change := range changes {
		change(&cfg)
	}
	s, err := h.Schedule(h.Context(), cfg, handle)
	h.must(err)
	return s
}

// must ends the test at an error.
func (h host) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h host) pass(d time.Duration) {
	h.Helper()
	h.must(elapse(h.Context(), d))
	synctest.Wait()
}

func (h host) state(name string) *jobtree.State {
	return jobtree.Read(h.view.Snapshot(), jobtree.Job(name))
}

func (h host) commit(ops ...coord.Op) {
	h.Helper()
	if _, err := h.reg.Commit(h.Context(), ops...); err != nil {
		h.Fatal(err)
	}
}

func cron(expression string) func(*job.Config) {
	return func(c *job.Config) { c.Cron = expression }
}

// A node runs its jobs, with the options that they share, until the context of Run ends. Then
// nothing of them is left.
func TestNodeRunsItsJobs(t *testing.T) {
	options := []job.Option{job.WithIP("10.0.0.7"), job.WithLabels("big")}
	onNode(t, job.NodeConfig{Options: options}, func(h host) {
		if err := h.Health(); err != nil || len(h.Jobs()) > 0 {
			h.Errorf("a node without jobs: %v, %d jobs", err, len(h.Jobs()))
		}
		ctx, stop := context.WithCancel(h.Context())
		ran := make(chan error, 1)
		go func() { ran <- h.Node.Run(ctx) }()
		const jobs = 20
		var mu sync.Mutex
		runs := map[string]int{}
		var all sync.WaitGroup
		for i := range jobs {
			all.Go(func() {
				h.schedule(fmt.Sprintf("job%02d", i), func(_ context.Context, sc job.ShardingContext) error {
					mu.Lock()
					defer mu.Unlock()
					runs[sc.JobName]++
					return nil
				}, cron("* * * * * ?"))
			})
		}
		all.Wait()
		once, err := h.Schedule(h.Context(), job.Config{Name: "once", ShardingTotalCount: 1}, job.HandlerFunc(untilDone), job.WithIP("10.0.0.8"))
		h.must(err)
		h.pass(5*time.Second + 500*time.Millisecond)
		if err := errors.Join(h.Ready(), h.Health()); err != nil {
			h.Error(err)
		}
		list := h.Jobs()
		if len(list) != jobs+1 || list[0].Name() != "job00" || list[jobs] != once || h.Job("once") != once || h.Job("none") != nil {
			h.Errorf("%d jobs", len(list))
		}
		for i := range jobs {
			name := fmt.Sprintf("job%02d", i)
			s := h.state(name)
			in, isThere := s.Instances[h.Job(name).Status().InstanceID]
			mu.Lock()
			if !isThere || in.IP != "10.0.0.7" || len(in.Labels) != 1 || runs[name] < 5 {
				h.Errorf("%s: %+v, %d runs", name, in, runs[name])
			}
			mu.Unlock()
		}
		if in := h.state("once").Instances[once.Status().InstanceID]; in.IP != "10.0.0.8" {
			h.Errorf("an option of its own: %+v", in)
		}
		stop()
		if err := <-ran; err != nil {
			h.Error(err)
		}
		for n := range h.view.Snapshot().All("") {
			if n.Owner != 0 {
				h.Errorf("%s is left", n.Path)
			}
		}
	})
}

func TestNodeConfigIsChecked(t *testing.T) {
	onNode(t, job.NodeConfig{}, func(h host) {
		var none *memory.Registry
		for says, err := range map[string]error{
			"registry": second(job.NewNode(none, job.NodeConfig{})),
			"threads":  second(job.NewNode(h.reg, job.NodeConfig{Threads: -1})),
			"drain":    second(job.NewNode(h.reg, job.NodeConfig{Drain: -1})),
			"handler":  second(h.Schedule(h.Context(), job.Config{Name: "a"}, nil)),
			"weight":   second(job.NewNode(h.reg, job.NodeConfig{Options: []job.Option{job.WithWeight(-1)}})),
		} {
			if err == nil || !strings.Contains(err.Error(), says) {
				h.Errorf("%s: got %v", says, err)
			}
		}
		if _, err := h.Schedule(h.Context(), job.Config{Name: "a"}, job.HandlerFunc(untilDone)); err == nil || len(h.Jobs()) > 0 {
			h.Errorf("a job without a cron: %v, %d jobs", err, len(h.Jobs()))
		}
	})
}

func second[T any](_ T, err error) error { return err }

// A node has one job of a name: also while that starts, and again when it was shut down.
func TestNodeHasOneJobOfAName(t *testing.T) {
	onNode(t, job.NodeConfig{}, func(h host) {
		h.run()
		slow := h.store.Inject(memory.Fault{Method: memory.Commit, Delay: time.Second, Times: 1})
		defer slow.Remove()
		started := make(chan *job.Scheduler)
		go func() { started <- h.schedule("a", untilDone) }()
		synctest.Wait()
		again := func() error {
			_, err := h.Schedule(h.Context(), job.Config{Name: "a", ShardingTotalCount: 1}, job.HandlerFunc(untilDone))
			return err
		}
		if err := again(); !errors.Is(err, job.ErrJobTwice) || !strings.Contains(err.Error(), "job a:") {
			h.Errorf("while it starts: %v", err)
		}
		if err := h.Ready(); err == nil || !strings.Contains(err.Error(), "1 of 1 jobs") || h.Job("a") != nil {
			h.Errorf("ready while it starts: %v", err)
		}
		s := <-started
		if err := again(); !errors.Is(err, job.ErrJobTwice) || h.Ready() != nil {
			h.Errorf("when it has started: %v; ready %v", err, h.Ready())
		}
		if err := s.Shutdown(h.Context()); err != nil {
			h.Error(err)
		}
		if len(h.Jobs()) > 0 {
			h.Error("it is there after its shutdown")
		}
		h.schedule("a", untilDone)
	})
}

// A job that has stopped by itself is at fault until it is started again or shut down.
func TestNodeTellsOfAJobThatHasStopped(t *testing.T) {
	onNode(t, job.NodeConfig{}, func(h host) {
		h.run()
		h.schedule("a", untilDone)
		for _, end := range []func(*job.Scheduler) error{
			func(s *job.Scheduler) error { return s.Shutdown(h.Context()) },
			func(*job.Scheduler) error { h.schedule("b", untilDone); return job.ErrInstanceRemoved },
		} {
			b := h.schedule("b", untilDone)
			h.commit(coord.Delete(jobtree.Job("b").Instance(b.Status().InstanceID)))
			<-b.Done()
			if err := h.Health(); !errors.Is(err, job.ErrInstanceRemoved) || !strings.Contains(err.Error(), "1 of 2 jobs are at fault") || !strings.Contains(err.Error(), "job b:") {
				h.Errorf("health: %v", err)
			}
			if err := errors.Join(h.Live(), h.Ready()); err != nil {
				h.Errorf("an operator who removes an instance wants no restart, and holds up no rollout: %v", err)
			}
			if err := end(b); !errors.Is(err, job.ErrInstanceRemoved) {
				h.Errorf("got %v", err)
			}
			if err := errors.Join(h.Health(), h.Ready()); err != nil {
				h.Errorf("after that: %v", err)
			}
		}
	})
}

// Faults of jobs are faults of the node. Its text has the first ones only.
func TestNodeTellsOfFaults(t *testing.T) {
	onNode(t, job.NodeConfig{}, func(h host) {
		h.run()
		const jobs = 50
		for i := range jobs {
			h.schedule(fmt.Sprintf("job%02d", i), untilDone)
		}
		h.commit(coord.Set(jobtree.Job("job07").Config(), []byte(strings.Repeat("x", 5000))))
		h.pass(time.Second)
		fault, ok := errors.AsType[job.Fault](h.Health())
		if !ok || fault.Kind != jobtype.FaultConfig {
			h.Errorf("health: %v", h.Health())
		}
		for i := range jobs {
			h.commit(coord.Set(jobtree.Job(fmt.Sprintf("job%02d", i)).Config(), []byte(strings.Repeat("x", 5000))))
		}
		h.pass(time.Second)
		if text := h.Health().Error(); len(text) > 10_000 || !strings.Contains(text, "50 of 50 jobs") || !strings.Contains(text, "job00") || !strings.HasSuffix(text, "and 40 more") {
			h.Errorf("%d bytes: %s", len(text), text)
		}
		if err := h.Ready(); err != nil {
			h.Errorf("ready: %v", err)
		}
	})
}

// A shutdown of a node is one of all jobs at once: handlers that do not return hold it up for
// the grace of one of them. It ends starts that are under way, and later ones are refused.
func TestNodeShutdownIsOfAllAtOnce(t *testing.T) {
	onNode(t, job.NodeConfig{Options: []job.Option{job.WithCancelGrace(3 * time.Second)}}, func(h host) {
		const jobs = 30
		release := make(chan struct{})
		defer close(release)
		for i := range jobs {
			h.schedule(fmt.Sprintf("job%02d", i), func(context.Context, job.ShardingContext) error { <-release; return nil }, cron("* * * * * ?"))
		}
		h.pass(2 * time.Second)
		slow := h.store.Inject(memory.Fault{Method: memory.Commit, Path: "late/config", Delay: time.Hour})
		defer slow.Remove()
		late := make(chan error, 1)
		go func() {
			_, err := h.Schedule(h.Context(), job.Config{Name: "late", Cron: rarely, ShardingTotalCount: 1}, job.HandlerFunc(untilDone))
			late <- err
		}()
		ran := make(chan error, 1)
		go func() { ran <- h.Node.Run(h.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(h.Context(), 10*time.Second)
		defer cancel()
		begun := time.Now()
		err := h.Shutdown(ctx)
		if took := time.Since(begun); took < 10*time.Second || took > 15*time.Second {
			h.Errorf("it took %v", took)
		}
		if err == nil || !strings.Contains(err.Error(), "30 of 30 jobs have shut down with errors; job job00: items 0 still run") || len(err.Error()) > 5000 {
			h.Errorf("got %v", err)
		}
		if err := <-late; !errors.Is(err, job.ErrNodeClosed) {
			h.Errorf("a start that was under way: %v", err)
		}
		if again := <-ran; again == nil || again.Error() != err.Error() {
			h.Errorf("Run: %v", again)
		}
		if _, err := h.Schedule(h.Context(), job.Config{Name: "a", Cron: rarely, ShardingTotalCount: 1}, job.HandlerFunc(untilDone)); !errors.Is(err, job.ErrNodeClosed) {
			h.Errorf("a start after that: %v", err)
		}
		if err := h.Ready(); !errors.Is(err, job.ErrNodeClosed) {
			h.Errorf("ready: %v", err)
		}
	})
}

// busyness counts what runs at a time, and how often each job has run.
type busyness struct {
	mu        sync.Mutex
	now, most int
	runs      map[string]int
}

func (b *busyness) handler(work func(context.Context) error) job.HandlerFunc {
	return func(ctx context.Context, sc job.ShardingContext) error {
		b.add(1, sc.JobName)
		defer b.add(-1, "")
		return work(ctx)
	}
}

func (b *busyness) add(n int, name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now += n
	b.most = max(b.most, b.now)
	if name != "" {
		b.runs[name]++
	}
}

// Jobs that share threads run no more items at a time, and claim no more. They take turns:
// ones that always have something to make up do not keep others from their turn.
func TestNodeThreads(t *testing.T) {
	for name, change := range map[string]func(*job.Config){
		"one item":       func(*job.Config) {},
		"many items":     func(c *job.Config) { c.ShardingTotalCount = 5 },
		"failover":       func(c *job.Config) { c.Failover = true },
		"misfire off":    func(c *job.Config) { c.Misfire = job.Off },
		"unmonitored":    func(c *job.Config) { c.MonitorExecution, c.Failover = job.Off, false },
		"few of its own": func(c *job.Config) { c.ShardingTotalCount, c.Threads = 5, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			const threads, jobs = 3, 12
			onNode(t, job.NodeConfig{Threads: threads}, func(h host) {
				b := &busyness{runs: map[string]int{}}
				for i := range jobs {
					h.schedule(fmt.Sprintf("job%02d", i), b.handler(func(ctx context.Context) error { return elapse(ctx, 1100*time.Millisecond) }), cron("* * * * * ?"), change)
				}
				claimed := 0
				for range 240 {
					h.pass(250 * time.Millisecond)
					running := 0
					for n := range h.view.Snapshot().All("") {
						if coord.Base(n.Path) == "running" {
							running++
						}
					}
					claimed = max(claimed, running)
				}
				b.mu.Lock()
				defer b.mu.Unlock()
				if b.most != threads || claimed > threads {
					h.Errorf("%d ran at a time and %d were claimed, want %d", b.most, claimed, threads)
				}
				// In a minute each of the threads has done some 50 executions.
				least, most := 1000, 0
				for i := range jobs {
					n := b.runs[fmt.Sprintf("job%02d", i)]
					least, most = min(least, n), max(most, n)
				}
				if least < 8 || most-least > 6 {
					h.Errorf("the jobs have run %d to %d times: %v", least, most, b.runs)
				}
			})
		})
	}
}

// An item that waits for a thread of other jobs is a fault that says so. It is not claimed
// before, so it goes to another process that has one.
func TestNodeThreadsThatOthersHave(t *testing.T) {
	onNode(t, job.NodeConfig{Threads: 1}, func(h host) {
		release := make(chan struct{})
		h.schedule("long", func(context.Context, job.ShardingContext) error { <-release; return nil }, cron("* * * * * ?"))
		h.pass(2 * time.Second)
		b := &busyness{runs: map[string]int{}}
		short := h.schedule("short", b.handler(func(context.Context) error { return nil }), cron("0 * * * * ?"))
		h.pass(70 * time.Second)
		fault, ok := errors.AsType[job.Fault](short.Status().Fault())
		if !ok || fault.Kind != jobtype.FaultStarvation || !strings.Contains(fault.Error(), "all 1 threads that the jobs of this process share are busy") {
			h.Errorf("the fault is %v", fault)
		}
		if s := h.state("short"); s.Item(0).Running != nil {
			h.Error("it is claimed")
		}
		close(release)
		h.pass(time.Second)
		if b.runs["short"] != 1 {
			h.Errorf("it has run %d times", b.runs["short"])
		}
	})
}

// A job that waits for a thread and then needs none, or goes, does not keep the thread from
// others when it is its turn.
func TestNodeThreadsThatAreNotNeededAnyMore(t *testing.T) {
	for name, end := range map[string]func(h host, first *job.Scheduler){
		"its item is disabled": func(h host, first *job.Scheduler) {
			h.commit(coord.Put(jobtree.Job(first.Name()).ItemDisabled(0), nil))
		},
		"it is shut down": func(h host, first *job.Scheduler) {
			if err := first.Shutdown(h.Context()); err != nil {
				h.Error(err)
			}
		},
		"its session is lost": func(h host, first *job.Scheduler) {
			h.store.Expire(h.state(first.Name()).Sessions[first.Status().InstanceID].Owner)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onNode(t, job.NodeConfig{Threads: 1}, func(h host) {
				release := make(chan struct{})
				h.schedule("long", func(context.Context, job.ShardingContext) error { <-release; return nil }, cron("0 * * * * ?"))
				h.pass(time.Minute + time.Second)
				b := &busyness{runs: map[string]int{}}
				nothing := func(context.Context) error { return nil }
				first := h.schedule("first", b.handler(nothing), cron("10 * * * * ?"))
				h.schedule("second", b.handler(nothing), cron("20 * * * * ?"))
				h.pass(25 * time.Second) // both wait
				end(h, first)
				h.pass(2 * time.Second)
				close(release)
				h.pass(30 * time.Second)
				b.mu.Lock()
				defer b.mu.Unlock()
				if b.runs["second"] == 0 {
					h.Errorf("the other job has not run: %v", b.runs)
				}
			})
		})
	}
}
