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

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
)

// An idle job costs one commit to start, from an empty tree until its items are assigned, and
// one to shut down. What was read when its view was opened is not read again.
func TestIdleJobCostsOneCommitToStartAndOneToLeave(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ReconcileInterval = rarely, -1
		first, ofFirst := c.counted("10.0.0.1")
		second, ofSecond := c.counted("10.0.0.2")
		start := func(m *member) func() { return func() { c.mustSchedule(m, cfg, nil) } }
		for _, tc := range []struct {
			what          string
			do            func()
			first, second int // commits
			instances     int // that there are then
		}{
			{"the first start", start(first), 1, 0, 1},
			{"its end", first.leave, 1, 0, 0},
			{"the start of a job that is there", start(first), 1, 0, 1},
			{"another one joins, and the leader assigns", start(second), 1, 1, 2},
			{"it leaves", second.leave, 1, 1, 1},
			{"it comes back", start(second), 1, 1, 2},
			{"the leader leaves, the other one is elected and assigns", first.leave, 1, 2, 1},
		} {
			tc.do()
			c.pass(time.Second)
			for reg, want := range map[*counting]int{ofFirst: tc.first, ofSecond: tc.second} {
				if commits, reads := reg.take(); len(commits) != want || len(reads) > 0 {
					t.Errorf("%s: %d commits and %q, want %d and nothing: %v", tc.what, len(commits), reads, want, commits)
				}
			}
			s := c.state()
			isLed, without := s.Leader != nil, len(owners(s, 3)[""])
			if len(s.Instances) != tc.instances || len(s.Sessions) != tc.instances || s.Schedule == nil || isLed != (tc.instances > 0) || isLed && without > 0 {
				t.Errorf("%s: want %d instances, and there is\n%s", tc.what, tc.instances, c.dump())
			}
		}
	})
}

// An idle job has one goroutine. Those that it starts have the label of the goroutine that has
// started it, and so do theirs.
func TestIdleJobIsOneGoroutine(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		const jobs = 5
		var all []*job.Scheduler
		pprof.Do(t.Context(), pprof.Labels("idle", t.Name()), func(ctx context.Context) {
			for i := range jobs {
				s, err := job.Schedule(ctx, c.admin, job.Config{Name: fmt.Sprintf("job-%d", i), Cron: rarely, ShardingTotalCount: 1}, job.HandlerFunc(untilDone))
				c.must(err)
				all = append(all, s)
			}
		})
		synctest.Wait()
		if n := labelled(t, t.Name()); n != jobs {
			t.Errorf("%d goroutines of %d jobs", n, jobs)
		}
		for _, s := range all {
			c.ok(s.Shutdown(t.Context()))
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
