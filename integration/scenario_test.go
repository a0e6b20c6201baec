package integration_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/testserver/zkserver"
)

// scenarioTime bounds one scenario: more than any needs, on a machine that has other
// things to do.
const scenarioTime = 2 * time.Minute

// drain is the time that handlers get at the end: more than any takes.
const drain = 20 * time.Second

var limits = history.Limits{Session: 2 * time.Second, Margin: 2500 * time.Millisecond}

// startStore starts a store for a test.
func startStore(t *testing.T, kind string) cluster.Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	start := cluster.StartEtcd
	if kind == cluster.ZooKeeper {
		zkserver.Require(t)
		start = cluster.StartZooKeeper
	}
	store, err := start(ctx)
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

// stage is a cluster in a test. Its methods end the test when something fails that is
// not what the test is about.
type stage struct {
	*testing.T
	*cluster.Cluster
	ctx    context.Context
	limits history.Limits
	jobs   []cluster.Job
}

// play runs a scenario in a namespace of its own, and checks what happened.
func play(t *testing.T, store cluster.Store, scenario func(*stage)) {
	ctx, cancel := context.WithTimeout(t.Context(), scenarioTime)
	defer cancel()
	namespace := strings.Map(func(r rune) rune {
		if r == '/' || r == '#' {
			return '-'
		}
		return r
	}, t.Name())
	c, err := cluster.New(ctx, store, namespace, limits)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, Cluster: c, ctx: ctx, limits: limits}
	defer func() {
		keep := ""
		if t.Failed() {
			keep = t.ArtifactDir()
			t.Logf("what was written is in %s if the test runs with -artifacts", keep)
		}
		s.try(c.Close(keep))
	}()
	scenario(s)
	report, err := c.Finish(ctx, drain)
	if err != nil {
		t.Error(err)
	}
	for _, v := range report.Violations {
		t.Error(v)
	}
	t.Logf("%d fires, %d items run, %d failovers, %d make-ups, %d stopped, longest gap %v",
		report.Fires, report.Items, report.Failovers, report.MakeUps, report.Stopped, report.LongestGap.Round(time.Millisecond))
}

// try ends the test unless err is nil.
func (s *stage) try(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// add adds a job.
func (s *stage) add(j cluster.Job) {
	s.Helper()
	s.try(s.Add(j))
}

// start starts workers of these names and waits until all of them have a part in all jobs.
func (s *stage) start(names ...string) []*cluster.Worker {
	s.Helper()
	var workers []*cluster.Worker
	for _, name := range names {
		w, err := s.Start(name, cluster.Options{})
		s.try(err)
		workers = append(workers, w)
	}
	s.try(s.Settled(s.ctx))
	return workers
}

// await waits for an event after a mark.
func (s *stage) await(mark cluster.Mark, what string, match func(history.Event) bool) history.Event {
	s.Helper()
	e, err := s.Await(s.ctx, mark, what, match)
	s.try(err)
	return e
}
