package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
	"github.com/elasticjob-go/elasticjob/jobtest"
)

// Whatever happens to the shops, every order is paid exactly once. They do not
// watch their contexts, so only the fences in the tables keep them from paying twice.
func TestEveryOrderIsPaidOnceInTrouble(t *testing.T) {
	file := filepath.Join(t.TempDir(), "orders.db")
	synctest.Test(t, func(t *testing.T) {
		db, err := create(t.Context(), file, 1000, items)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		c := jobtest.NewCluster(t)
		open := func(name string, takes time.Duration) *jobtest.Process {
			s := shop{db, name}
			in := c.Process(name)
			in.Schedule(job.Config{
				Name: "orders", Cron: "0/5 * * * * ?", ShardingTotalCount: items, Failover: true,
				Props: map[string]string{"streaming.process": "true", "dataflow.page.size": "10"},
			}, dataflow.WithCursor(s.fetch, func(ctx context.Context, sc job.ShardingContext, orders []order) error {
				time.Sleep(takes)
				return s.process(context.WithoutCancel(ctx), sc, orders)
			}))
			return in
		}
		north, south, west := open("north", time.Second), open("south", 4*time.Second), open("west", time.Second)
		c.Until(time.Minute, func() bool { return c.Executions().Running().Len() == items })
		c.Advance(5500 * time.Millisecond)
		south.LoseSession() // while it waits to pay
		c.Advance(20 * time.Second)
		north.Die()
		west.LoseAnswers(3 * time.Second)
		c.Advance(20 * time.Second)
		north = open("north", time.Second)
		c.Advance(20 * time.Second)
		north.CutOff(30 * time.Second)
		c.StoreAway(5 * time.Second)
		c.Advance(10 * time.Minute)

		var out strings.Builder
		if err := check(t.Context(), db, &out); err != nil {
			t.Errorf("%v\n%s%s", err, &out, c.Recorder())
		}
		refused := c.Executions().Where("refused", func(e jobtest.Execution) bool {
			return e.Err != nil && strings.Contains(e.Err.Error(), errLost.Error())
		})
		if refused.Len() == 0 {
			t.Errorf("no write was refused, so this has tested nothing\n%s", c.Recorder())
		}
		jobtest.NoTickTwice(t, c.Executions())
		jobtest.TokensGrow(t, c.Executions())
	})
}
