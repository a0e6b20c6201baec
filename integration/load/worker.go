package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Worker is a process that runs the jobs, under test: nothing else runs in it. Its methods
// are what the program calls.
type Worker struct {
	settings   Settings
	registry   *counting
	table      *table
	schedulers []*job.Scheduler // by job; nil if it was not started
	started    atomic.Int64
	// starts is the context of all starts. Stop ends it, and then waits for Start.
	starts    context.Context
	endStarts context.CancelFunc
	starting  sync.Mutex
	// Only ticks between the two are noted, in nanoseconds.
	from, until atomic.Int64
}

// Settings are what a worker runs.
type Settings struct {
	Options   options
	Endpoints []string
	Namespace string
	Number    int // of the worker, from 0
}

const (
	dialTimeout = 20 * time.Second
	// startTimeout bounds all starts together, and all shutdowns.
	startTimeout = 5 * time.Minute
)

// Dial connects to the store, and answers what the process holds before any job.
func (w *Worker) Dial(s Settings, before *Memory) (err error) {
	w.settings = s
	w.starts, w.endStarts = context.WithCancel(context.Background())
	if w.table, err = openTable(os.NewFile(3, "table")); err != nil {
		return err
	}
	registry, err := dial(s)
	if err != nil {
		return err
	}
	w.registry = &counting{Registry: registry}
	*before, err = ownMemory()
	return err
}

func dial(s Settings) (coord.Registry, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	if s.Options.Store == zkStore {
		r, err := zk.Dial(ctx, zk.Config{Servers: s.Endpoints, Namespace: s.Namespace, SessionTimeout: s.Options.Session, DialTimeout: dialTimeout})
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	r, err := etcd.Dial(ctx, etcd.Config{Endpoints: s.Endpoints, Namespace: s.Namespace, SessionTimeout: s.Options.Session, DialTimeout: dialTimeout})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Took is how long something took for all jobs, and for each.
type Took struct {
	All  time.Duration
	Each []time.Duration
}

// Start starts all jobs.
func (w *Worker) Start(_ None, took *Took) (err error) {
	w.starting.Lock()
	defer w.starting.Unlock()
	ctx, cancel := context.WithTimeout(w.starts, startTimeout)
	defer cancel()
	w.schedulers = make([]*job.Scheduler, w.settings.Options.Jobs)
	*took, err = w.forAll(func(i int) (err error) {
		w.schedulers[i], err = w.schedule(ctx, i)
		w.started.Add(1)
		return err
	})
	return err
}

// forAll does something for all jobs, several at a time, and stops at the first error.
func (w *Worker) forAll(do func(i int) error) (Took, error) {
	took := Took{Each: make([]time.Duration, w.settings.Options.Jobs)}
	errs := make([]error, w.settings.Options.Starting)
	var next atomic.Int64
	var stop atomic.Bool
	var all sync.WaitGroup
	begin := time.Now()
	for n := range errs {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(took.Each) && !stop.Load(); i = int(next.Add(1)) - 1 {
				began := time.Now()
				if err := do(i); err != nil {
					errs[n] = fmt.Errorf("%s: %w", jobName(i), err)
					stop.Store(true)
					return
				}
				took.Each[i] = time.Since(began)
			}
		})
	}
	all.Wait()
	took.All = time.Since(begin)
	for _, err := range errs {
		if err != nil {
			return took, err // one is enough: the others say the same
		}
	}
	return took, nil
}

func jobName(i int) string { return fmt.Sprintf("load-%05d", i) }

func (w *Worker) schedule(ctx context.Context, i int) (*job.Scheduler, error) {
	o := w.settings.Options
	config := job.Config{
		Name: jobName(i), Cron: o.Cron, ShardingTotalCount: o.Items,
		Threads:          o.Threads,
		MonitorExecution: jobtype.ToggleOf(o.Monitor),
		Failover:         o.Event == eventKill && o.Monitor,
	}
	options := []job.Option{job.WithIP(fmt.Sprintf("10.0.0.%d", w.settings.Number+1))}
	if o.Early != adaptive {
		options = append(options, job.WithEarlyClaims(o.Early))
	}
	if o.Event != "" {
		options = append(options, job.WithObserver(func(e job.Event) {
			if e.Kind == jobtype.EventItems {
				w.table.add(entry{kind: aChange, job: i, items: len(e.Items), begun: e.Time})
			}
		}))
	}
	return job.Schedule(ctx, w.registry, config, w.handler(i), options...)
}

// handler notes each run, and takes as long as it should.
func (w *Worker) handler(i int) job.HandlerFunc {
	work := w.settings.Options.Work
	return func(ctx context.Context, sc job.ShardingContext) error {
		begun := time.Now()
		tick := sc.ScheduledTime.UnixNano()
		noted := tick >= w.from.Load() && tick < w.until.Load()
		var at int
		if noted {
			at = w.table.add(entry{kind: aRun, source: sc.Source, job: i, item: sc.Item, tick: sc.ScheduledTime, begun: begun})
		}
		if work > 0 {
			timer := time.NewTimer(work)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				return context.Cause(ctx) // it was cut short: it has no end
			}
		}
		if noted {
			w.table.end(at, time.Now())
		}
		return nil
	}
}

// Started answers how many jobs are started.
func (w *Worker) Started(_ None, n *int) error {
	*n = int(w.started.Load())
	return nil
}

// Assigned answers how many items of all jobs this process has.
func (w *Worker) Assigned(_ None, n *int) error {
	for _, s := range w.schedulers {
		*n += len(s.Status().Items)
	}
	return nil
}

// Note makes the worker note the runs of the ticks of a window.
func (w *Worker) Note(over Window, _ *None) error {
	w.until.Store(over.Until.UnixNano())
	w.from.Store(over.From.UnixNano())
	return nil
}

// Counters are what a worker has used and done since it began.
type Counters struct {
	CPU                        time.Duration
	Mallocs                    int64
	Commits, Conflicts, Failed int64
}

func (c Counters) minus(before Counters) Counters {
	return Counters{c.CPU - before.CPU, c.Mallocs - before.Mallocs, c.Commits - before.Commits, c.Conflicts - before.Conflicts, c.Failed - before.Failed}
}

func (c Counters) plus(other Counters) Counters {
	return Counters{c.CPU + other.CPU, c.Mallocs + other.Mallocs, c.Commits + other.Commits, c.Conflicts + other.Conflicts, c.Failed + other.Failed}
}

// Count answers the counters.
func (w *Worker) Count(_ None, c *Counters) error {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	cpu, err := ownCPU()
	*c = Counters{cpu, int64(s.Mallocs), w.registry.commits.Load(), w.registry.conflicts.Load(), w.registry.failed.Load()}
	return err
}

// Memory answers what the process holds.
func (w *Worker) Memory(_ None, m *Memory) (err error) {
	*m, err = ownMemory()
	return err
}

// Stop shuts all jobs down.
func (w *Worker) Stop(_ None, took *Took) (err error) {
	w.endStarts()
	w.starting.Lock()
	defer w.starting.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	*took, err = w.forAll(func(i int) error {
		if w.schedulers == nil || w.schedulers[i] == nil {
			return nil
		}
		return w.schedulers[i].Shutdown(ctx)
	})
	return err
}

// Clean removes all jobs from the store.
func (w *Worker) Clean(_ None, _ *None) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	_, err := w.forAll(func(i int) error {
		_, err := w.registry.Commit(ctx, coord.DeleteTree(jobName(i)))
		return err
	})
	return err
}

// Close ends the session.
func (w *Worker) Close(_ None, _ *None) error {
	if w.registry == nil {
		return errors.New("not connected")
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	return w.registry.Close(ctx)
}
