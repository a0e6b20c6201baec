package integration_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// scenarioTime bounds one scenario: more than any needs, on a machine that has other
// things to do.
const scenarioTime = 8 * time.Minute

// drain is the time that handlers get at the end: more than any of them needs.
const drain = 20 * time.Second

// limits of all scenarios. The margin allows for a slow machine.
var limits = history.Limits{Session: 2 * time.Second, Margin: 2500 * time.Millisecond}

// quota is how large etcd's database may grow, in bytes: more than the scenarios need, and
// little enough to be filled up quickly.
const quota = 24 << 20

// withUsers is an etcd that asks every client for a user and a password.
const withUsers = cluster.Etcd + "/users"

// startStore starts a store for a test.
func startStore(t testing.TB, kind string) cluster.Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var store cluster.Store
	var err error
	switch kind {
	case cluster.Etcd:
		store, err = cluster.StartEtcd(ctx, quota)
	case withUsers:
		store, err = cluster.StartEtcdWithUsers(ctx, quota)
	case cluster.ZooKeeper:
		zkserver.Require(t)
		store, err = cluster.StartZooKeeper(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// stage is a cluster in a test. Its methods end the test when something fails.
type stage struct {
	testing.TB
	*cluster.Cluster
	ctx   context.Context
	heals []func() error // of what was done to the store
}

// play runs a scenario in a namespace of its own, and checks what happened.
func play(t testing.TB, store cluster.Store, limits history.Limits, scenario func(*stage)) history.Report {
	ctx, cancel := context.WithTimeout(t.Context(), scenarioTime)
	defer cancel()
	namespace := strings.NewReplacer("/", "-", "#", "-").Replace(t.Name())
	c, err := cluster.New(ctx, store, namespace, limits)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{TB: t, Cluster: c, ctx: ctx}
	defer func() {
		keep := ""
		if t.Failed() {
			keep = t.ArtifactDir()
			t.Logf("with -artifacts, what was written is in %s", keep)
		}
		for _, heal := range s.heals {
			if err := heal(); err != nil { // the next scenario needs the store
				t.Error(err)
			}
		}
		if err := c.Close(keep); err != nil {
			t.Error(err)
		}
	}()
	scenario(s)
	report, err := c.Finish(ctx, drain)
	if err != nil {
		t.Error(err)
	}
	for _, v := range report.Violations {
		t.Error(v)
	}
	if report.Calls+report.Shares > 0 {
		t.Logf("%d calls of once-listeners, %d again; %d shares in broadcast jobs", report.Calls, report.Repeated, report.Shares)
	}
	t.Logf("%d fires, %d items run, %d failovers, %d make-ups, %d stopped, longest gap %v",
		report.Fires, report.Items, report.Failovers, report.MakeUps, report.Stopped, report.LongestGap.Round(time.Millisecond))
	return report
}

// must ends the test unless err is nil.
func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// add adds a job.
func (s *stage) add(j cluster.Job) {
	s.Helper()
	s.must(s.Add(j))
}

// start starts workers of these names and waits until all of them have a part in all jobs.
func (s *stage) start(names ...string) []*cluster.Worker {
	s.Helper()
	var workers []*cluster.Worker
	for _, name := range names {
		w, err := s.Start(name, cluster.Options{})
		s.must(err)
		workers = append(workers, w)
	}
	s.settled()
	return workers
}

// settled waits until the workers that run have joined all jobs and own all items.
func (s *stage) settled() {
	s.Helper()
	s.must(s.Settled(s.ctx))
}

// within bounds what is waited for from now on.
func (s *stage) within(d time.Duration) {
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithTimeout(s.ctx, d)
	s.Cleanup(cancel)
}

// sound waits until nobody reports a fault any more.
func (s *stage) sound() {
	s.Helper()
	s.must(s.Sound(s.ctx))
}

// covered waits until every item has run once more.
func (s *stage) covered() {
	s.Helper()
	s.must(s.Covered(s.ctx))
}

// exit lets a worker finish what it does and waits for its end.
func (s *stage) exit(w *cluster.Worker) {
	s.Helper()
	s.must(w.Exit(drain))
	s.must(w.Wait(s.ctx))
}

// trouble does something to the store until the function that it returns is called.
func (s *stage) trouble(name string, begin, end func() error) (heal func()) {
	s.Helper()
	mend, err := s.Trouble(name, begin, end)
	mend = sync.OnceValue(mend)
	s.heals = append(s.heals, mend)
	s.must(err)
	return func() {
		s.Helper()
		s.must(mend())
	}
}

// worker finds a worker by its name in the history.
func (s *stage) worker(process string) *cluster.Worker {
	s.Helper()
	for _, w := range s.Workers() {
		if w.Name == process {
			return w
		}
	}
	s.Fatalf("no worker %s runs", process)
	return nil
}

// match says which events a test looks for.
type match func(history.Event) bool

// starts matches the start of an item of a job.
func starts(job string, item int) match {
	return func(e history.Event) bool { return e.Kind == history.Start && e.Job == job && e.Item == item }
}

// by matches events of a process, again those of executions with a source of that name.
func (m match) by(process string) match {
	return func(e history.Event) bool { return e.Process == process && m(e) }
}

func (m match) as(source string) match {
	return func(e history.Event) bool { return e.Source == source && m(e) }
}

// of matches any event of a kind.
func of(kind history.Kind) match {
	return func(e history.Event) bool { return e.Kind == kind }
}

// await waits for an event after a mark.
func (s *stage) await(mark cluster.Mark, what string, m match) history.Event {
	s.Helper()
	e, err := s.Await(s.ctx, mark, what, m)
	s.must(err)
	return e
}

// awaitCount waits for several such events.
func (s *stage) awaitCount(mark cluster.Mark, what string, n int, m match) {
	s.Helper()
	s.must(s.AwaitAll(s.ctx, mark, what, func(more []history.Event) bool {
		n -= count(more, m)
		return n <= 0
	}))
}

func count(events []history.Event, m match) int {
	n := 0
	for _, e := range events {
		if m(e) {
			n++
		}
	}
	return n
}

// none fails the test for every event after a mark that matches.
func (s *stage) none(mark cluster.Mark, what string, m match) {
	s.Helper()
	for _, e := range s.Since(mark) {
		if m(e) {
			s.Errorf("%s: %s", what, &e)
		}
	}
}

// elapse lets time pass in the cluster: so many ticks of a job begin.
func (s *stage) elapse(job string, ticks int) {
	s.Helper()
	seen := map[time.Time]bool{}
	s.must(s.AwaitAll(s.ctx, s.Mark(), "time to pass", func(more []history.Event) bool {
		for _, e := range more {
			if e.Kind == history.Start && e.Job == job {
				seen[e.Tick] = true
			}
		}
		return len(seen) >= ticks
	}))
}

// last lets a fault last for some time.
func (s *stage) last(d time.Duration) {
	s.Helper()
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-over.C:
	case <-s.ctx.Done():
		s.Fatal(context.Cause(s.ctx))
	}
}
