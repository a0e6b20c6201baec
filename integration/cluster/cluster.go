// Package cluster is the orchestrator of the fault suite: it starts workers and the
// servers of a store as processes of their own, does things to them, and writes down
// what it did.
//
// What it starts it ends, and what it writes it removes, also when it is killed itself.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/fence"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/integration/worker"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// Cluster is some workers, the jobs that they run, and a registry of its own through which
// it sees what they see and does what an operator would. Several can share a store, each
// in its own namespace.
type Cluster struct {
	store     Store
	namespace string
	limits    history.Limits
	folder    *folder
	spawner   *spawner
	fence     *fence.Table
	reg       coord.Registry
	view      coord.View
	log       *history.Log
	tail      *tail

	mu        sync.Mutex
	lives     map[string]int
	workers   []*Worker
	operators []*Operator
	jobs      []Job
	saved     []Job // the jobs as they were at the last Save
	calendars *calendars
	errs      []error
	failed    chan struct{} // closed with the first of errs

	watching sync.WaitGroup
	stop     context.CancelFunc
}

// New prepares a cluster in a namespace of the store; ctx bounds that. The caller closes it.
func New(ctx context.Context, store Store, namespace string, limits history.Limits) (*Cluster, error) {
	c := &Cluster{
		store: store, namespace: namespace, limits: limits, spawner: newSpawner(), tail: newTail(),
		lives: map[string]int{}, calendars: newCalendars(), failed: make(chan struct{}), stop: func() {},
	}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.Close(""))
	}
	return c, nil
}

func (c *Cluster) prepare(ctx context.Context) (err error) {
	if c.folder, err = newFolder(); err != nil {
		return err
	}
	if err := os.Mkdir(c.folder.at("logs"), 0o700); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	if c.fence, err = fence.Serve(c.folder.at("fence")); err != nil {
		return err
	}
	if c.log, err = history.Create(c.logPath("cluster"), "", nil); err != nil {
		return err
	}
	user, password := c.store.Login()
	if user != "" {
		user = rootUser // the operator keeps his permissions when workers lose theirs
	}
	c.reg, err = worker.Dial(ctx, worker.Config{
		Store: c.store.Kind(), Servers: c.store.Addresses(), Namespace: c.namespace, SessionTimeout: 10 * time.Second,
		User: user, Password: password,
	}, nil)
	if err != nil {
		return err
	}
	if c.view, err = c.reg.View(ctx, "", coord.AllLevels); err != nil {
		return err
	}
	watch, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.watching.Go(func() { c.watch(watch) })
	c.watching.Go(func() { c.log.Pulse(watch) })
	c.watching.Go(func() { c.probe(watch) })
	return nil
}

// probe writes down when the store is slow to answer a client to which nothing is done. Workers whose
// session has ended ask for nothing, so they do not show it.
func (c *Cluster) probe(ctx context.Context) {
	for sleep.For(ctx, patience) {
		call := history.Mono()
		_ = c.view.Sync(ctx) // however it ends, it has taken so long
		c.log.Took(call)
	}
}

func (c *Cluster) logPath(process string) string { return c.folder.at("logs", process) }

// add writes an event down.
func (c *Cluster) add(e history.Event) {
	c.log.Add(e)
	c.tail.add(e)
}

// fail keeps an error of something that nobody waits for. Whoever waits for an event gets it.
func (c *Cluster) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.errs) == 0 {
		close(c.failed)
	}
	c.errs = append(c.errs, err)
}

func (c *Cluster) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.errs...)
}

// watch writes down what the cluster's own view shows: when the session of an instance
// ends, and when a schedule comes into force.
func (c *Cluster) watch(ctx context.Context) {
	var before sight
	for {
		changed := c.view.Changed()
		now := look(c.view.Snapshot())
		for id, name := range before.sessions {
			if now.sessions[id] == "" {
				e := history.Now(history.Gone)
				e.Job, e.Instance = name, id
				c.add(e)
			}
		}
		for name, s := range now.schedules {
			if last := before.schedules[name]; last != nil && s.Since.Equal(last.Since) && s.Calendars == last.Calendars {
				continue
			}
			e := history.Now(history.Scheduled)
			e.Job, e.Tick, e.Token = name, s.Since, s.Modified
			if err := c.recordedOut(&e, s.Calendars); err != nil {
				c.fail(err)
				return
			}
			c.add(e)
		}
		c.addNew(history.Created, before.created, now.created)
		c.addNew(history.Removed, before.removed, now.removed)
		before = now
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
		if err := c.view.Err(); err != nil {
			c.fail(fmt.Errorf("the bystander's view ended: %w", err))
			return
		}
	}
}

// sight is what watch compares between two snapshots.
type sight struct {
	sessions  map[string]string            // job by instance
	schedules map[string]*jobtree.Schedule // by job
	created   map[string]int64             // the commits that created configurations, by job
	removed   map[string]int64             // those that removed jobs
}

// addNew writes down which jobs another commit has created or removed than before.
func (c *Cluster) addNew(kind history.Kind, before, now map[string]int64) {
	for name, number := range now {
		if number != before[name] {
			e := history.Now(kind)
			e.Job, e.Token = name, number
			c.add(e)
		}
	}
}

func look(snapshot coord.Snapshot) sight {
	s := sight{sessions: map[string]string{}, schedules: map[string]*jobtree.Schedule{}, created: map[string]int64{}, removed: map[string]int64{}}
	for _, name := range snapshot.Children(jobtree.Removals) {
		note, _ := snapshot.Get(jobtree.Job(name).Removal())
		s.removed[name] = note.Modified
	}
	for _, name := range snapshot.Children("") {
		if config, isThere := snapshot.Get(jobtree.Job(name).Config()); isThere {
			s.created[name] = config.Created
		}
		state := jobtree.Read(snapshot, jobtree.Job(name))
		for id := range state.Sessions {
			s.sessions[id] = name
		}
		if state.Schedule != nil && state.Schedule.Err == nil {
			s.schedules[name] = state.Schedule
		}
	}
	return s
}

// Limits is how much time things may take.
func (c *Cluster) Limits() history.Limits { return c.limits }

// Store is what the cluster stands on.
func (c *Cluster) Store() Store { return c.store }

// Workers are those that run and were not asked to exit.
func (c *Cluster) Workers() []*Worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.workers), func(w *Worker) bool { return !w.Alive() })
}

// Events returns the history so far, in the order of time.
func (c *Cluster) Events() []history.Event {
	events := slices.Clone(c.Since(0))
	history.Sort(events)
	return events
}

// Finish ends the observation: it lets all workers exit, and checks what all have written
// and what they left in the tree. handlers get the time of drain.
func (c *Cluster) Finish(ctx context.Context, drain time.Duration) (history.Report, error) {
	answers := c.Answers(ctx)
	c.add(history.Now(history.Quiet))
	err := errors.Join(answers, c.exitAll(ctx, drain), c.tidy(ctx, drain), c.failure(), c.races())
	events, unread := c.recorded()
	if unread != nil {
		return history.Report{}, errors.Join(err, unread)
	}
	report := history.Check(events, c.limits)
	report.Violations = append(report.Violations, history.CheckExclusion(events, 10*time.Second)...)
	report.Violations = append(report.Violations, history.CheckTree(c.view.Snapshot())...)
	return report, err
}

func (c *Cluster) exitAll(ctx context.Context, drain time.Duration) error {
	workers := c.Workers()
	var errs []error
	for _, w := range workers {
		w.Mend()
		errs = append(errs, w.Exit(drain))
	}
	for _, w := range workers {
		errs = append(errs, w.Wait(ctx))
	}
	return errors.Join(errs...)
}

// tidy waits until the sessions of killed workers have ended. The last workers may have lost
// their sessions while they left, and have left something unfinished. Then tidy starts
// another worker, which has to finish that.
func (c *Cluster) tidy(ctx context.Context, drain time.Duration) error {
	const heirs = 6
	for range heirs {
		if err := c.AwaitTree(ctx, "the sessions of those that are gone to end", func(s coord.Snapshot) bool {
			for n := range s.All("") {
				if n.Ephemeral() {
					return false
				}
			}
			return true
		}); err != nil {
			return err
		}
		if len(history.CheckTree(c.view.Snapshot())) == 0 {
			return nil
		}
		if _, err := c.Start("w9", Options{}); err != nil {
			return err
		}
		if err := errors.Join(c.Settled(ctx), c.exitAll(ctx, drain)); err != nil {
			return err
		}
	}
	return nil
}

// recorded reads the logs of all processes.
func (c *Cluster) recorded() ([]history.Event, error) {
	paths, err := filepath.Glob(c.logPath("*"))
	if err != nil {
		return nil, err
	}
	return history.Read(paths...)
}

// races returns what the race detector, or a panic, has written in any worker.
func (c *Cluster) races() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, w := range c.workers {
		errs = append(errs, w.crash())
	}
	return errors.Join(errs...)
}

// Close kills what still runs, and removes what was written or, if keep is not empty,
// leaves a copy of it there.
func (c *Cluster) Close(keep string) error {
	var errs []error
	for _, w := range c.Workers() {
		errs = append(errs, w.Kill())
	}
	c.mu.Lock()
	operators := c.operators
	c.mu.Unlock()
	for _, o := range operators {
		errs = append(errs, o.close())
	}
	c.stop()
	c.watching.Wait()
	if c.view != nil {
		c.view.Close()
	}
	if c.reg != nil {
		errs = append(errs, closeRegistry(c.reg))
	}
	if c.fence != nil {
		errs = append(errs, c.fence.Close())
	}
	if c.log != nil {
		errs = append(errs, c.log.Close())
	}
	// Some were asked to exit and have not done so.
	c.mu.Lock()
	workers := c.workers
	c.mu.Unlock()
	for _, w := range workers {
		_ = w.cmd.Process.Kill()
		<-w.ended
	}
	c.spawner.close()
	if c.folder != nil {
		errs = append(errs, c.folder.close(keep))
	}
	return errors.Join(errs...)
}

// closeRegistry closes a registry of the cluster's own. If a busy store does not confirm that in
// time, the session ends there by its time-out.
func closeRegistry(reg coord.Registry) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := reg.Close(ctx); !errors.Is(err, coord.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
