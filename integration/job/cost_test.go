package job_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// priced is a job whose requests to the store are counted.
type priced struct {
	testing.TB
	view coord.View
	a, b *counting
}

func newPriced(t testing.TB) priced {
	t.Helper()
	store := memory.NewStore(memory.Options{})
	t.Cleanup(store.Close)
	dial := func() *counting {
		reg, err := store.Dial(t.Context(), memory.Config{Namespace: "cost"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeRegistry(t, reg) })
		return &counting{Registry: reg}
	}
	p := priced{TB: t, a: dial(), b: dial()}
	view, err := dial().Registry.View(t.Context(), "settle", coord.AllLevels)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(view.Close)
	p.view = view
	return p
}

func (p priced) start(reg coord.Registry, ip string) *job.Scheduler {
	p.Helper()
	s, err := job.Schedule(p.Context(), reg, job.Config{Name: "settle", Cron: rarely, ShardingTotalCount: 3, ReconcileInterval: -1},
		job.HandlerFunc(untilDone), job.WithIP(ip))
	if err != nil {
		p.Fatal(err)
	}
	return s
}

func (p priced) leave(s *job.Scheduler) {
	p.Helper()
	if err := s.Shutdown(p.Context()); err != nil {
		p.Error(err)
	}
}

// costs compares what both instances have sent since the last time.
func (p priced) costs(what string, a, b int) {
	p.Helper()
	synctest.Wait()
	for _, one := range []struct {
		reg  *counting
		want int
	}{{p.a, a}, {p.b, b}} {
		if commits, reads := one.reg.take(); len(commits) != one.want || len(reads) > 0 {
			p.Errorf("%s: %d commits and %q, want %d and nothing: %v", what, len(commits), reads, one.want, commits)
		}
	}
}

// isWhole compares how many instances there are. If there are any, all is as it should be.
func (p priced) isWhole(instances int) {
	p.Helper()
	s := jobtree.Read(p.view.Snapshot(), "settle")
	without := len(owners(s, 3)[""])
	if len(s.Instances) != instances || len(s.Sessions) != instances || s.Schedule == nil || (s.Leader != nil) != (instances > 0) || instances > 0 && without > 0 {
		p.Errorf("instances %v, sessions %v, schedule %v, leader %v, %d items without an owner; want %d", s.Instances, s.Sessions, s.Schedule, s.Leader, without, instances)
	}
}

// An idle job costs one commit to start, from an empty tree until its items are assigned, and
// one to shut down. What was read when its view was opened is not read again.
func TestIdleJobCostsOneCommitToStartAndOneToLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPriced(t)
		first := p.start(p.a, "10.0.0.1")
		p.costs("the first start", 1, 0)
		p.isWhole(1)
		p.leave(first)
		p.costs("its end", 1, 0)
		p.isWhole(0)
		first = p.start(p.a, "10.0.0.1")
		p.costs("the start of a job that is there", 1, 0)
		p.isWhole(1)
		second := p.start(p.b, "10.0.0.2")
		p.costs("another one joins, and the leader assigns", 1, 1)
		p.isWhole(2)
		p.leave(second)
		p.costs("it leaves", 1, 1)
		p.isWhole(1)
		second = p.start(p.b, "10.0.0.2")
		p.costs("it comes back", 1, 1)
		p.leave(first)
		if err := elapse(t.Context(), time.Second); err != nil {
			t.Fatal(err)
		}
		p.costs("the leader leaves, the other one is elected and assigns", 1, 2)
		p.isWhole(1)
		p.leave(second)
	})
}

// An idle job has one goroutine. Those that it starts have the label of the goroutine that has
// started it, and so do theirs.
func TestIdleJobIsOneGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPriced(t)
		const jobs = 5
		var all []*job.Scheduler
		pprof.Do(t.Context(), pprof.Labels("idle", t.Name()), func(ctx context.Context) {
			for i := range jobs {
				s, err := job.Schedule(ctx, p.a, job.Config{Name: fmt.Sprintf("job-%d", i), Cron: rarely, ShardingTotalCount: 1}, job.HandlerFunc(untilDone))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, s)
			}
		})
		synctest.Wait()
		if n := labelled(t, t.Name()); n != jobs {
			t.Errorf("%d goroutines of %d jobs", n, jobs)
		}
		for _, s := range all {
			p.leave(s)
		}
		synctest.Wait()
		if n := labelled(t, t.Name()); n != 0 {
			t.Errorf("%d goroutines are left", n)
		}
	})
}

// labelled counts the goroutines with a label. The profile has a line with a count for those
// that are alike, and then one with their labels.
func labelled(t *testing.T, label string) int {
	t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	sum, alike := 0, 0
	for line := range strings.Lines(profile.String()) {
		if count, _, ok := strings.Cut(line, " @ "); ok {
			n, err := strconv.Atoi(count)
			if err != nil {
				continue // the line that says how many goroutines there are
			}
			alike = n
		} else if strings.HasPrefix(line, "# labels:") && strings.Contains(line, strconv.Quote(label)) {
			sum += alike
		}
	}
	return sum
}

// BenchmarkStartCost counts what the start and the end of one job send.
func BenchmarkStartCost(b *testing.B) {
	store := memory.NewStore(memory.Options{})
	defer store.Close()
	dialed, err := store.Dial(b.Context(), memory.Config{Namespace: "cost"})
	if err != nil {
		b.Fatal(err)
	}
	defer closeRegistry(b, dialed)
	reg := &counting{Registry: dialed}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		cfg := job.Config{Name: fmt.Sprintf("job-%d", n), Cron: rarely, ShardingTotalCount: 1}
		s, err := job.Schedule(b.Context(), reg, cfg, job.HandlerFunc(untilDone), job.WithIP("10.0.0.1"))
		if err != nil {
			b.Fatal(err)
		}
		shutdown(b, s)
	}
	commits, reads := reg.take()
	b.ReportMetric(float64(len(commits))/float64(b.N), "commits/op")
	b.ReportMetric(float64(len(reads))/float64(b.N), "reads/op")
}
