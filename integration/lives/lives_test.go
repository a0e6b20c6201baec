package lives_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/engine/setup"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

var update = flag.Bool("update", false, "write the diagrams into the page")

const page = "../../docs/understand/architecture.md"

// stage has a store, and two processes, A and B, that run the job settle. Tick 00:30 has begun.
type stage struct {
	t     *testing.T
	store *memory.Store
	h     *history
	stop  []func()
}

var settle = job.Config{Name: "settle", Cron: "0/30 * * * * ?", TimeZone: "UTC", ShardingTotalCount: 2, Failover: true}

// dial connects an actor, each with another delay, so that what happens has an order.
func (s *stage) dial(actor int) *memory.Registry {
	r, err := s.store.Dial(s.t.Context(), memory.Config{Namespace: "billing"})
	if err != nil {
		s.t.Fatal(err)
	}
	r.Link().Delay(time.Duration(actor+2) * time.Millisecond)
	s.stop = append(s.stop, func() { _ = r.Close(context.Background()) })
	return r
}

// start starts a process. Its handler takes a second for item 0, and 1.2 s for item 1.
func (s *stage) start(actor int) (*job.Scheduler, *memory.Registry) {
	r, name := s.dial(actor), s.h.actors[actor]
	do := func(ctx context.Context, sc job.ShardingContext) error {
		s.h.add(actor, 1, "%s begins item %d: tick %s, token %d, %v",
			name, sc.Item, sc.ScheduledTime.UTC().Format("04:05"), s.h.number(sc.Token), sc.Source)
		select {
		case <-time.After(time.Second + time.Duration(sc.Item)*200*time.Millisecond):
		case <-ctx.Done():
		}
		s.h.add(actor, -1, "%s has done item %d", name, sc.Item)
		return nil
	}
	behind := func() time.Time { return time.Now().Add(-5 * time.Duration(actor) * time.Millisecond) } // the order of ticks
	scheduler, err := job.Schedule(s.t.Context(), recorder{r, s.h, actor}, settle, job.HandlerFunc(do),
		job.WithIP(fmt.Sprintf("10.0.0.%d", actor+1)), setup.Clock(behind))
	if err != nil {
		s.t.Fatal(err)
	}
	s.stop = append(s.stop, func() { _ = scheduler.Shutdown(context.Background()) })
	return scheduler, r
}

// lives are the histories that are drawn, by the names of their markers in the page, from a moment on.
var lives = []struct {
	name   string
	actors []string
	from   time.Duration                                               // how much later it begins than the tick
	play   func(s *stage, b *job.Scheduler, registry *memory.Registry) // B's
}{
	{"tick", []string{"A", "B", "store"}, -time.Second, func(*stage, *job.Scheduler, *memory.Registry) { time.Sleep(3 * time.Second) }},
	{"orphan", []string{"A", "B", "store"}, 1100 * time.Millisecond, func(s *stage, b *job.Scheduler, registry *memory.Registry) {
		s.h.add(1, gone, "B dies, and the run of item 1 with it")
		registry.Link().Cut()
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = registry.Close(ended)
		go func() { _ = b.Shutdown(ended) }()
		for s.store.Sessions() > 1 {
			time.Sleep(time.Millisecond)
		}
		s.h.add(2, 0, "the session of B ends: instances/B and sessions/B go")
		time.Sleep(5 * time.Second)
	}},
	{"change", []string{"A", "B", "C", "store"}, 2 * time.Second, func(s *stage, _ *job.Scheduler, _ *memory.Registry) {
		settle := ops.New(recorder{s.dial(2), s.h, 2}).By("anna").Job("settle")
		now, err := settle.Settings(s.t.Context())
		now.Config.Cron = "0/15 * * * * ?"
		if err == nil {
			err = settle.Update(s.t.Context(), ops.UpdateRequest{Config: now.Config, Version: now.Version})
		}
		if err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(time.Second)
	}},
	{"stop", []string{"A", "B", "store"}, 1100 * time.Millisecond, func(s *stage, b *job.Scheduler, _ *memory.Registry) {
		s.h.add(1, 0, "B gets SIGTERM, and calls Shutdown")
		_ = b.Shutdown(context.Background())
		s.h.add(1, gone, "Shutdown of B returns")
		time.Sleep(time.Second)
	}},
}

// The page shows what the code does.
func TestDiagrams(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	fresh := string(text)
	for _, life := range lives {
		synctest.Test(t, func(t *testing.T) {
			tick := time.Now().Add(30 * time.Second)
			h := &history{actors: life.actors, names: map[string]string{}, from: tick.Add(life.from)}
			s := &stage{t: t, store: memory.NewStore(memory.Options{}), h: h}
			s.start(0)
			b, registry := s.start(1)
			time.Sleep(time.Until(h.from) + time.Microsecond)
			life.play(s, b, registry)
			before, rest, found := strings.Cut(fresh, "<!-- diagram "+life.name+" -->\n")
			_, after, ends := strings.Cut(rest, "<!-- end -->\n")
			if !found || !ends {
				t.Fatalf("%s has no lines <!-- diagram %s --> and <!-- end -->", page, life.name)
			}
			fresh = before + "<!-- diagram " + life.name + " -->\n```text\n" + h.String() + "```\n<!-- end -->\n" + after
			for i := len(s.stop) - 1; i >= 0; i-- {
				s.stop[i]()
			}
			s.store.Close()
		})
	}
	if fresh == string(text) {
		return
	}
	if !*update {
		t.Fatal("the diagrams of the page are older than the code: make diagrams")
	}
	if err := os.WriteFile(page, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}
