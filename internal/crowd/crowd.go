// Package crowd fills a namespace for tests and benchmarks.
package crowd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// Plant writes a namespace with many jobs, each with 1 to 10 items, as they stand after a run: on
// 20 servers, each job on one of them. It returns how many nodes it has written.
func Plant(ctx context.Context, reg coord.Registry, jobs int) (nodes int, err error) {
	var ops []coord.Op
	for n := range jobs {
		of, err := planted(n)
		if err != nil {
			return nodes, err
		}
		if coord.Cost(ops...)+coord.Cost(of...) > coord.MaxOps {
			if _, err := reg.Commit(ctx, ops...); err != nil {
				return nodes, fmt.Errorf("plant jobs up to %d: %w", n, err)
			}
			ops = nil
		}
		ops = append(ops, of...)
		nodes += len(of)
	}
	if _, err := reg.Commit(ctx, ops...); err != nil {
		return nodes, fmt.Errorf("plant the last jobs: %w", err)
	}
	return nodes, nil
}

// Name is the name of the nth job of a crowd.
func Name(n int) jobtree.Job { return jobtree.Job(fmt.Sprintf("billing.settlement-%05d", n)) }

// planted is what the tree of the nth job has.
func planted(n int) ([]coord.Op, error) {
	items := 1 + n%10
	name := Name(n)
	c := job.Config{
		Name: string(name), Cron: fmt.Sprintf("%d 0/5 * * * ?", n%60), TimeZone: "Asia/Shanghai", ShardingTotalCount: items, Failover: true,
		ShardingItemParameters: "0=Beijing", JobParameter: "currency=CNY", Description: "settles the payments of merchants", Retry: job.Retry{Attempts: 3},
	}
	document, err := c.Encode(nil)
	if err != nil {
		return nil, err
	}
	ip := fmt.Sprintf("10.0.0.%d", n%20)
	id := jobtree.InstanceID(ip, 1, fmt.Sprintf("%012x", n))
	instance := jobtree.EncodeInstance(id, ip, []string{"linux", "weight=3"})
	tick := time.Date(2026, 11, 22, 12, 0, n%60, 0, time.UTC)
	schedule, err := jobtree.EncodeSchedule(jobtree.ScheduleDocument{Cron: c.Cron, TimeZone: c.TimeZone, Misfire: true, Since: tick.AddDate(0, -1, 0)})
	if err != nil {
		return nil, err
	}
	ops := []coord.Op{
		coord.Put(name.Root(), []byte("settlement")), coord.Put(name.Config(), document), coord.Put(name.Schedule(), schedule),
		coord.Put(name.Server(ip), []byte(jobtree.Enabled)),
		coord.CreateEphemeral(name.Instance(id), instance), coord.CreateEphemeral(name.LeaderInstance(), []byte(id)),
		coord.CreateEphemeral(name.Session(id), jobtree.EncodeSession(jobtree.SessionDocument{Protocol: jobtree.Protocol, Accepted: 1, NodeID: ip + "@-@1-0"})),
	}
	for i := range items {
		end := jobtree.CompletionDocument{
			Tick: tick, Token: 123456789, Outcome: jobtree.OutcomeOK, Ended: tick.Add(3 * time.Second), TaskID: strings.Repeat("0123456789abcdef", 2), Source: "NORMAL",
		}
		if n%100 == 7 && i == 0 {
			end.Outcome, end.Error = jobtree.OutcomeFailed, "no disk: /var is full"
		}
		ops = append(ops, coord.Put(name.ItemInstance(i), []byte(id)), coord.Put(name.Fired(i), jobtree.EncodeFired(tick)), coord.Put(name.Completion(i), jobtree.EncodeCompletion(end)))
	}
	if n%50 == 0 {
		ops = append(ops, coord.Put(name.Running(0), []byte(id)))
	}
	return ops, nil
}
