package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/ops/migrate"
)

// errDied is what a process that is no more is told.
var errDied = errors.New("the process is no more")

// tb is a test, or the check of a property.
type tb interface {
	rapid.TB
	Cleanup(func())
}

// fault is what happens at a commit.
type fault int

const (
	dies         fault = iota // before the commit
	diesAfter                 // after it
	diesInFlight              // the commit comes when another process is at work
	unanswered                // it is not carried out, and the process goes on
	answerLost                // it is carried out, and the process goes on
	delayed                   // the same, but it is carried out later
	overtaken                 // another process moves the jobs just before it
	givenUp                   // another process aborts the migration just before it
	faults
)

// process moves jobs, or aborts that, until a fault comes.
type process struct {
	*world
	at    int // the commit, on either side, at which the fault comes; 0 is never
	fault fault
	lag   int // commits of this or the next process after which one that is delayed comes

	mu      sync.Mutex
	commits int
	isDead  bool
}

// mortal is a process's registry.
type mortal struct {
	coord.Registry
	process *process
}

func (m mortal) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	p := m.process
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isDead {
		return 0, errDied
	}
	defer p.check()
	if p.lag--; p.lag == 0 {
		p.deliver()
	}
	if p.commits++; p.commits != p.at {
		return m.Registry.Commit(ctx, ops...)
	}
	late := func() {
		_, _ = m.Registry.Commit(context.WithoutCancel(ctx), ops...) // nobody knows its outcome
	}
	switch p.fault {
	case overtaken, givenUp:
		if err := (&process{world: p.world}).run(p.fault == givenUp); err != nil && !errors.Is(err, migrate.ErrNone) {
			p.t.Errorf("the other process: %v", err)
		}
		return m.Registry.Commit(ctx, ops...)
	case diesAfter, answerLost:
		late()
	case diesInFlight, delayed:
		p.late = append(p.late, late)
	}
	if p.isDead = p.fault <= diesInFlight; p.isDead {
		return 0, errDied
	}
	return 0, coord.ErrUnknownOutcome
}

func (p *process) run(isAbort bool) (err error) {
	m := between(mortal{p.from, p}, mortal{p.to, p})
	if isAbort {
		_, err = m.Abort(context.Background())
	} else {
		_, err = m.Run(context.Background())
	}
	return err
}

// world is a source and a target, and what has to hold for them at any moment.
type world struct {
	t              tb
	source, target *memory.Store
	from, to       coord.Registry
	original       map[string]string // of the source
	late           []func()          // commits that are delayed
	arrived        map[string]int64  // the newest revision of jobs that have arrived
}

func newWorld(t tb, original map[string]string) *world {
	w := &world{t: t, original: original, arrived: map[string]int64{}}
	w.source, w.from = bare(t)
	w.target, w.to = bare(t)
	for path, value := range original {
		if _, err := w.from.Commit(context.Background(), coord.Put(path, []byte(value))); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// bare is a registry of a store of its own.
func bare(t tb) (*memory.Store, coord.Registry) {
	s := memory.NewStore(memory.Options{})
	reg, err := s.Dial(context.Background(), memory.Config{Namespace: "ns"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = reg.Close(context.Background()) // the store goes, too
		s.Close()
	})
	return s, reg
}

// deliver carries out what is delayed.
func (w *world) deliver() {
	for _, do := range w.late {
		do()
	}
	w.late = nil
}

// check checks that no job can run on both sides, none is lost, and nobody can set one up that is on its way.
func (w *world) check() {
	w.t.Helper()
	source, target := w.source.Snapshot("ns"), w.target.Snapshot("ns")
	for path, value := range w.original {
		name, isConfig := strings.CutSuffix(path, "/config")
		if !isConfig {
			continue
		}
		job := jobtree.Job(name)
		mark, _ := source.Get(job.Moving())
		isThere, hasArrived := source.Exists(path), target.Exists(path)
		switch {
		case isThere && hasArrived:
			w.t.Errorf("%s can run on both sides", name)
		case !isThere && !hasArrived && !strings.Contains(string(mark.Value), "---\n"+value):
			w.t.Errorf("%s is lost", name)
		case !isThere && !source.Exists(job.Removal()):
			w.t.Errorf("%s can be set up at the source", name)
		case !isThere && !hasArrived && !target.Exists(job.Removal()):
			w.t.Errorf("%s can be set up at the target", name)
		case hasArrived:
			revision := int64(0)
			for n := range target.All(name) {
				revision = max(revision, n.Modified)
			}
			if was, isKnown := w.arrived[name]; isKnown && was != revision {
				w.t.Errorf("%s was written to after it had arrived", name)
			}
			w.arrived[name] = revision
		}
	}
}

// checkMarks checks that no job is on its way.
func (w *world) checkMarks() {
	w.t.Helper()
	for _, s := range []*memory.Store{w.source, w.target} {
		if marks := s.Snapshot("ns").Children(jobtree.Migrations); len(marks) > 0 {
			w.t.Errorf("on their way are %v", marks)
		}
	}
}

// finish moves the jobs without a fault. Then the target has all of it, whatever has happened before.
func (w *world) finish() {
	w.t.Helper()
	for range 2 { // what is delayed may also come after the last run
		if err := (&process{world: w, lag: 3}).run(false); err != nil {
			w.t.Fatal(err)
		}
		w.deliver()
		w.check()
		w.checkMarks()
	}
	clean := newWorld(w.t, w.original)
	if _, err := between(clean.from, clean.to).Run(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	same(w.t, w.target, clean.target)
	same(w.t, w.source, clean.source)
}

// same compares two namespaces, but for ids and times.
func same(t tb, got, want *memory.Store) {
	t.Helper()
	var nodes [2]map[string]string
	for i, s := range []*memory.Store{got, want} {
		nodes[i] = map[string]string{}
		for n := range s.Snapshot("ns").All("") {
			switch {
			case n.Path == jobtree.Migrations, coord.Parent(n.Path) == jobtree.Audits, strings.HasSuffix(n.Path, "/original"):
			case coord.Parent(n.Path) == jobtree.Removals:
				nodes[i][n.Path] = "a note"
			case len(n.Value) > 0 || strings.HasSuffix(n.Path, "/disabled"):
				nodes[i][n.Path] = string(n.Value)
			}
		}
	}
	if !maps.Equal(nodes[0], nodes[1]) {
		t.Errorf("got\n%v, want\n%v", nodes[0], nodes[1])
	}
}

// jobsOf is a namespace of jobs with so many items.
func jobsOf(items map[string]int) map[string]string {
	nodes := map[string]string{"~elasticjob/calendars/holidays": "x", "~elasticjob/removed/gone": "by: otto\n"}
	for name, items := range items {
		nodes[name] = "impl"
		nodes[name+"/config"] = "cron: 0 0 3 * * ?\nfailover: true\njobName: " + name + "\nshardingTotalCount: 3\n"
		nodes[name+"/schedule"] = "cron: 0 0 3 * * ?\nmisfire: true\nsince: 2026-01-01T00:00:00Z\n"
		for i := range items {
			nodes[fmt.Sprintf("%s/sharding/%d/fired", name, i)] = "2026-01-31T03:00:00.000Z"
			if i%7 == 1 {
				nodes[fmt.Sprintf("%s/sharding/%d/disabled", name, i)] = ""
			}
			if i%50 == 2 {
				nodes[fmt.Sprintf("%s/sharding/%d/running", name, i)] = "10.0.0.1@-@1-a"
			}
		}
	}
	return nodes
}

// A fault comes at each commit of a run, and then another run finishes the move.
func TestFaultAtEachCommit(t *testing.T) {
	for f := range faults {
		isOver := false
		for at := 1; !isOver; at++ {
			t.Run(fmt.Sprintf("%d at %d", f, at), func(t *testing.T) {
				w := newWorld(t, jobsOf(map[string]int{"a": 150, "a-b": 3}))
				p := &process{world: w, at: at, fault: f, lag: at + 2}
				err := p.run(false)
				isOver = p.commits < at
				switch mayFail := errors.Is(err, errDied) || errors.Is(err, migrate.ErrTakenOver); {
				case err == nil, mayFail && !isOver:
				default:
					t.Error(err)
				}
				if f >= overtaken {
					w.checkMarks()
				}
				w.finish()
			})
		}
	}
}

// Processes move jobs, or abort that, and to each of them something may happen.
func TestCrashes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		items := map[string]int{}
		for _, name := range []string{"a", "a-b", "c"} {
			items[name] = rapid.SampledFrom([]int{1, 3, 150}).Draw(rt, "items of "+name)
		}
		w := newWorld(rt, jobsOf(items))
		if rapid.Bool().Draw(rt, "a was removed at the target, but for a rest") {
			if _, err := w.to.Commit(context.Background(), coord.Put("a/sharding/9/fired", []byte("x")), coord.Put("~elasticjob/removed/a", []byte("by: otto\n"))); err != nil {
				rt.Fatal(err)
			}
		}
		for range rapid.IntRange(0, 4).Draw(rt, "processes") {
			p := &process{
				world: w, at: rapid.IntRange(1, 40).Draw(rt, "at"), fault: fault(rapid.IntRange(0, int(faults)-1).Draw(rt, "fault")),
				lag: rapid.IntRange(1, 40).Draw(rt, "lag"),
			}
			switch err := p.run(rapid.Bool().Draw(rt, "abort")); {
			case err == nil, errors.Is(err, errDied), errors.Is(err, migrate.ErrTakenOver), errors.Is(err, migrate.ErrNone):
			default:
				rt.Fatal(err)
			}
		}
		w.finish()
	})
}
