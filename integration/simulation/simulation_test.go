package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// namespace holds all jobs.
const namespace = "day"

// operatorName is the name of the operator's registry.
const operatorName = "operator"

// simulation is one day, or a part of one.
type simulation struct {
	t        testing.TB
	report   func(violation string)
	size     size
	seed     uint64
	store    *memory.Store
	admin    *memory.Registry // the operator's; its link never fails, but the store may
	groups   []*group
	working  sync.WaitGroup // everything that must have ended in the end
	outage   trouble        // of the store
	restored int            // how often it was put back in this storm
	waiting  sync.WaitGroup // for answers to requests
	waiters  atomic.Int64
	asking   context.Context // while it is not done
	answered context.CancelFunc
	over     atomic.Bool // the day is over: no handler dawdles any more
	counts   *counts

	mu         sync.Mutex
	violations map[string]int // by job
}

func newSimulation(t testing.TB, sz size, seed uint64, c *counts) *simulation {
	s := &simulation{t: t, report: func(v string) { t.Error(v) }, size: sz, seed: seed, counts: c, violations: map[string]int{}, store: memory.NewStore(memory.Options{Seed: seed + 1, Lag: 10 * time.Millisecond})}
	for _, sh := range sz.shapes {
		for i := range sh.groups {
			s.groups = append(s.groups, newGroup(s, sh, i))
		}
	}
	return s
}

// run is the whole of it.
func (s *simulation) run() {
	ctx := context.Background()
	first := s.store.Revision()
	begin := time.Now()
	admin, err := s.store.Dial(ctx, memory.Config{Namespace: namespace, Name: operatorName})
	if err != nil {
		s.t.Fatal(err)
	}
	s.admin = admin
	s.asking, s.answered = context.WithCancel(ctx)
	var operators sync.WaitGroup
	for _, g := range s.groups {
		operators.Go(g.operate)
	}
	var listening sync.WaitGroup
	stop := make(chan struct{})
	listening.Go(func() { s.listen(stop) })
	random := rand.New(rand.NewPCG(s.seed, 1<<32))
	for range s.size.watches {
		calm := time.Now().Add(s.size.storm)
		var storm sync.WaitGroup
		for _, g := range s.groups {
			storm.Go(func() { g.storm(calm) })
		}
		storm.Go(func() { s.weather(random, calm) })
		storm.Wait()
		s.repair()
		s.counts.virtual.Store(int64(time.Since(begin)))

		_ = elapse(ctx, s.size.calm/3)
		var asking sync.WaitGroup
		for _, g := range s.groups {
			asking.Go(g.ask)
		}
		asking.Wait()
		// Half a minute before the hour no tick is near, and hardly any handler returns.
		const before = 30*time.Second - 617*time.Millisecond
		_ = elapse(ctx, time.Until(calm.Add(s.size.calm-before)))
		s.audit(calm)
		_ = elapse(ctx, before)
		s.counts.virtual.Store(int64(time.Since(begin)))
	}
	close(stop)
	listening.Wait()
	s.end()
	for _, g := range s.groups {
		close(g.operator)
	}
	operators.Wait()
	s.counts.revisions.Store(s.store.Revision() - first)
	if err := s.admin.Close(ctx); err != nil {
		s.t.Error(err)
	}
	if n := s.store.Sessions(); n != 0 {
		s.t.Errorf("%d sessions are left", n)
	}
	s.store.Close()
	s.counts.fires(s.groups)
}

// end stops everything in an orderly way, and checks what is left.
func (s *simulation) end() {
	s.over.Store(true)
	for _, g := range s.groups {
		for slot, h := range g.slots {
			if h != nil {
				h.leave(time.Minute)
				g.drop(slot)
			}
		}
	}
	s.working.Wait()
	s.answered()
	s.waiting.Wait()
	s.auditEnd()
}

// violated reports a promise that was broken, with the piece of history that shows it.
func (s *simulation) violated(job string, item int, history []execution, what string) {
	const enough, enoughOfJob = 12, 2
	s.counts.violations.Add(1)
	s.mu.Lock()
	s.violations[job]++
	more := s.violations[job] > enoughOfJob || len(s.violations) > enough
	s.mu.Unlock()
	if more {
		s.t.Fail()
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "violation: job %s", job)
	if item >= 0 {
		fmt.Fprintf(&b, ", item %d", item)
	}
	fmt.Fprintf(&b, ": %s, at %s\n", what, clock(time.Now()))
	from := time.Now().Add(-15 * time.Minute)
	hosts := map[string]bool{}
	for _, e := range history {
		fmt.Fprintf(&b, "  %s\n", e)
		hosts[e.host.name] = true
	}
	if len(history) > 0 {
		last := history[max(len(history)-3, 0)]
		if t := last.begin.Add(-time.Minute); t.After(from) || len(history) > 1 {
			from = t
		}
	}
	if item >= 0 {
		path := jobtree.Job(job).Item(item)
		for n := range s.store.Snapshot(namespace).All(path) {
			fmt.Fprintf(&b, "  %s = %q (version %d, created %d, modified %d, owner %d)\n", n.Path, n.Value, n.Version, n.Created, n.Modified, n.Owner)
		}
	}
	notes := s.group(job).noted(from, time.Now())
	if len(notes) > 60 {
		notes = notes[len(notes)-60:]
	}
	for _, n := range notes {
		fmt.Fprintf(&b, "  %s %s\n", clock(n.at), n.text)
	}
	fmt.Fprintf(&b, "once more: %s", replay(s.seed))
	s.report(b.String())
}

func (s *simulation) group(job string) *group {
	for _, g := range s.groups {
		if strings.HasPrefix(job, g.name) {
			return g
		}
	}
	return s.groups[0]
}
