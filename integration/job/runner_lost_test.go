package job_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// lostStep is something that an operator does while answers to commits are lost: those of the runners, and
// the operator's own.
type lostStep struct {
	does  string
	skips int           // so many commits are well before the next is lost
	late  time.Duration // after which it is carried out; 0 is at once, less than that never
	wait  time.Duration
}

// Whatever answers are lost while jobs are created, changed, and removed, in the end each runner has one
// instance of each job that is there, nobody else has, and nothing is left of the others.
func TestRunnersWhoseAnswersAreLost(t *testing.T) {
	t.Parallel()
	step := rapid.Custom(func(t *rapid.T) lostStep {
		return lostStep{
			does:  rapid.SampledFrom([]string{"create", "remove", "update", "nothing"}).Draw(t, "does"),
			skips: rapid.IntRange(0, 6).Draw(t, "skips"),
			late:  time.Duration(rapid.IntRange(-1, 40).Draw(t, "late by tenths of a second")) * 100 * time.Millisecond,
			wait:  time.Duration(rapid.SampledFrom([]int{0, 1, 100, 3000, 20000}).Draw(t, "waits for ms")) * time.Millisecond,
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		plan := rapid.SliceOfN(step, 1, 12).Draw(rt, "plan")
		wrong := ""
		synctest.Test(t, func(t *testing.T) { wrong = loses(t, plan) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// A registration comes when it was fenced, and the job was removed since and created again. Nothing of
// it stays.
func TestRegistrationThatComesInAnotherLife(t *testing.T) {
	inACrew(t, func(c *crew, s *memory.Store) {
		c.create("settle", "work")
		a := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("work")})
		c.has("settle", a.ip)
		c.commit(coord.Put(jobtree.Job("settle").Server("10.0.0.2"), []byte("ENABLED"))) // so that the registration does not write it
		late := s.Inject(memory.Fault{Method: memory.Commit, Path: "settle/instances/*", Times: 1, Before: coord.ErrUnknownOutcome, Late: 20 * time.Second})
		b := c.start("10.0.0.2", job.RunnerConfig{Handlers: c.handlers("work")})
		c.has("settle", a.ip, b.ip)
		c.remove("settle")
		c.create("settle", "work", func(cfg *job.Config) { cfg.ShardingTotalCount = 6 })
		c.has("settle", a.ip, b.ip)
		c.pass(time.Minute)
		c.has("settle", a.ip, b.ip)
		if late.Hits() != 1 || len(c.logs.FilterMessageSnippet("had come late").All()) != 1 {
			c.Errorf("%d registrations were late\n%v", late.Hits(), c.logs.messages())
		}
		c.ok(errors.Join(a.Health(), b.Health()))
	})
}

func loses(t *testing.T, plan []lostStep) string {
	s := newMemoryStore(t).(memoryStore)
	c := newCrew(t, s)
	ips := []string{"10.0.0.1", "10.0.0.2"}
	var runners []*runner
	for _, ip := range ips {
		runners = append(runners, c.start(ip, job.RunnerConfig{Handlers: c.handlers("work")}))
	}
	steer := ops.New(c.admin)
	for _, step := range plan {
		fault := memory.Fault{Method: memory.Commit, Path: "settle/**", Skip: step.skips, Times: 1, Before: coord.ErrUnknownOutcome, Late: step.late}
		if step.late == 0 {
			fault.Before, fault.After = nil, coord.ErrUnknownOutcome
		}
		fault.Late = max(fault.Late, 0)
		s.Inject(fault)
		switch step.does { // the errors do not matter: what stands there does
		case "create":
			_ = steer.Create(t.Context(), ops.CreateRequest{Config: job.Config{Name: "settle", Cron: "0/5 * * * * ?", ShardingTotalCount: 2, Failover: true}, Implementation: "work"}) // it may be there
		case "remove":
			_ = steer.Job("settle").Remove(t.Context(), ops.RemoveRequest{}) // it may be gone
		case "update":
			if there, err := steer.Job("settle").Settings(t.Context()); err == nil {
				there.Config.ShardingTotalCount = 5 - there.Config.ShardingTotalCount
				_ = steer.Job("settle").Update(t.Context(), ops.UpdateRequest{Config: there.Config, Version: there.Version}) // somebody may be faster
			}
		}
		c.pass(step.wait)
	}
	c.pass(5 * time.Minute)
	c.must(c.all.Sync(t.Context()))
	tree := c.tree("settle")
	_, noteErr := c.admin.Get(t.Context(), jobtree.Job("settle").Removal())
	if tree.Config == nil {
		for n := range c.all.Snapshot().All("settle") {
			if n.Owner == 0 && coord.Base(n.Path) != "sessions" && n.Path != "settle" {
				return fmt.Sprintf("it is gone, and there is\n%s", c.dump())
			}
		}
		return ""
	}
	if noteErr == nil {
		return "it is there, and was removed\n" + c.dump()
	}
	if len(tree.Instances) != len(runners) {
		return fmt.Sprintf("%d instances\n%s", len(tree.Instances), c.dump())
	}
	before := len(c.record.find(anything))
	c.pass(30 * time.Second)
	if n := len(c.record.find(anything)) - before; n < 5*len(tree.Items) {
		return fmt.Sprintf("%d runs in 30 s\n%s", n, c.dump())
	}
	for _, r := range runners {
		if err := r.Health(); err != nil {
			return err.Error()
		}
	}
	return ""
}
