package job_test

import (
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Who asks for one item of a JVM member learns that it runs all of its items.
func TestTriggerOfAnItemOfAJVMMember(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, c *cluster, _ *memory.Store) {
		cfg := c.config()
		cfg.Cron, cfg.ShardingTotalCount, cfg.Misfire = rarely, 6, job.Off
		a := c.join("10.0.0.1", cfg, nil)
		const jvm = "10.0.0.9@-@1234"
		reg, _ := c.store.dial(t, c.namespace, c.timeout)
		defer closeRegistry(t, reg)
		if _, err := reg.Commit(t.Context(), coord.CreateEphemeral(c.job.Instance(jvm), nil), coord.Put(c.job.Server("10.0.0.9"), []byte("ENABLED"))); err != nil {
			t.Fatal(err)
		}
		c.await("it is assigned items", func(s *jobtree.State) bool { return len(owners(s, 6)["10.0.0.9"]) == 3 })
		of := owners(c.state(), 6)
		theirs, ours := of["10.0.0.9"], of["10.0.0.1"]
		for _, tc := range []struct {
			name   string
			items  []int
			jvm    []string
			beside []int
		}{
			{"one of ours", ours[:1], nil, nil},
			{"one of theirs", theirs[1:2], []string{jvm}, []int{theirs[0], theirs[2]}},
			{"all of theirs", theirs, []string{jvm}, nil},
			{"all", nil, []string{jvm}, nil},
		} {
			r, err := a.Trigger(t.Context(), job.TriggerRequest{Items: tc.items, Key: tc.name})
			if err != nil || !slices.Equal(r.JVM, tc.jvm) || !slices.Equal(r.Beside, tc.beside) {
				t.Errorf("%s: JVM members %v run %v beside, %v; want %v, %v", tc.name, r.JVM, r.Beside, err, tc.jvm, tc.beside)
			}
			again, err := c.ops().Trigger(t.Context(), job.TriggerRequest{Items: tc.items, Key: tc.name})
			if err != nil || !again.WasThere || !slices.Equal(again.JVM, tc.jvm) || !slices.Equal(again.Beside, tc.beside) {
				t.Errorf("%s, asked again: %+v, %v", tc.name, again, err)
			}
		}
		// A request for ticks of the past, too.
		c.configure(func(cfg *job.Config) { cfg.Cron = "0 * * * * ?" })
		end := time.Now().Truncate(time.Minute)
		r, err := c.ops().Backfill(t.Context(), ops.BackfillRequest{From: end.Add(-2 * time.Minute), To: end, Items: theirs[:1]})
		if err != nil || !slices.Equal(r.JVM, []string{jvm}) || !slices.Equal(r.Beside, theirs[1:]) {
			t.Errorf("%+v, %v", r, err)
		}
		if results, err := r.Wait(t.Context()); err != nil || len(results) != 1 || results[0].Outcome != job.OutcomeSkipped {
			t.Errorf("%+v, %v", results, err)
		}
	})
}
