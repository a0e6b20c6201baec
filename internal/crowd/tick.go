package crowd

import (
	"context"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// Large is a job with many items, all of one instance.
const Large jobtree.Job = "billing.large"

var largeID = jobtree.InstanceID("10.0.0.1", 1, "0000000000aa")

// PlantLarge writes the job Large, which ticks each minute, as it stands after a tick.
func PlantLarge(ctx context.Context, reg coord.Registry, items int) error {
	c := job.Config{Name: string(Large), Cron: "0 * * * * ?", ShardingTotalCount: items, Description: "settles the payments of merchants"}
	document, err := c.Encode(nil)
	if err != nil {
		return err
	}
	instance := jobtree.EncodeInstance(largeID, "10.0.0.1", nil)
	tick := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	schedule, err := jobtree.EncodeSchedule(jobtree.ScheduleDocument{Cron: c.Cron, Since: tick.AddDate(0, -1, 0)})
	if err != nil {
		return err
	}
	commits := [][]coord.Op{{
		coord.Put(Large.Root(), []byte("settlement")), coord.Put(Large.Config(), document), coord.Put(Large.Schedule(), schedule),
		coord.Put(Large.Server("10.0.0.1"), []byte(jobtree.Enabled)),
		coord.CreateEphemeral(Large.Instance(largeID), instance), coord.CreateEphemeral(Large.LeaderInstance(), []byte(largeID)),
		coord.CreateEphemeral(Large.Session(largeID), jobtree.EncodeSession(jobtree.SessionDocument{Protocol: jobtree.Protocol, Accepted: 1, NodeID: "10.0.0.1@-@1-0"})),
	}}
	for i := range items {
		if i%30 == 0 {
			commits = append(commits, nil)
		}
		last := &commits[len(commits)-1]
		*last = append(*last, coord.Put(Large.ItemInstance(i), []byte(largeID)))
	}
	for n, ops := range append(commits, Tick(tick, items, 30)...) {
		if _, err := reg.Commit(ctx, ops...); err != nil {
			return fmt.Errorf("plant a job with %d items: commit %d: %w", items, n, err)
		}
	}
	return nil
}

// Tick returns the commits with which the items of Large begin a tick, and then end it: each is one of so many items.
func Tick(tick time.Time, items, each int) (commits [][]coord.Op) {
	some := func(of func(item int) []coord.Op) {
		for i := range items {
			if i%each == 0 {
				commits = append(commits, nil)
			}
			commits[len(commits)-1] = append(commits[len(commits)-1], of(i)...)
		}
	}
	some(func(i int) []coord.Op {
		return []coord.Op{coord.Put(Large.Fired(i), jobtree.EncodeFired(tick)), coord.CreateEphemeral(Large.Running(i), []byte(largeID))}
	})
	some(func(i int) []coord.Op {
		end := jobtree.CompletionDocument{
			Tick: tick, Token: tick.Unix(), Outcome: jobtree.OutcomeOK, Begun: tick.Add(time.Duration(i) * time.Millisecond),
			Ended: tick.Add(time.Second + time.Duration(i)*time.Millisecond), TaskID: fmt.Sprintf("%032x", tick.Unix()*1000+int64(i)*7919), Source: "NORMAL_TRIGGER",
		}
		return []coord.Op{coord.Delete(Large.Running(i)), coord.Put(Large.Completion(i), jobtree.EncodeCompletion(end))}
	})
	return commits
}
