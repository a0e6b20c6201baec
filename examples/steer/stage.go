package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// stage is what a scene needs: a store, an operator, and somewhere to write.
type stage struct {
	store *memory.Store
	ops   *ops.Ops // of anna, the operator
	out   io.Writer
	exits []func() error // what ends the stage, last first
}

// play plays a scene on a stage of its own.
func play(ctx context.Context, out io.Writer, sc scene) (err error) {
	s := &stage{store: memory.NewStore(memory.Options{}), out: out}
	defer func() { err = errors.Join(err, s.clear()) }()
	reg, err := s.dial(ctx)
	if err != nil {
		return err
	}
	s.ops = ops.New(reg).By("anna")
	if _, err := fmt.Fprintf(out, "%s: %s\n", strings.ToUpper(sc.name), sc.about); err != nil {
		return err
	}
	return sc.play(ctx, s)
}

// dial opens a registry, as a process of its own would.
func (s *stage) dial(ctx context.Context) (coord.Registry, error) {
	reg, err := s.store.Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		return nil, err
	}
	s.exits = append(s.exits, func() error { return within(ctx, reg.Close) })
	return reg, nil
}

// join starts an instance of a job, as a process of its own would.
func (s *stage) join(ctx context.Context, cfg job.Config, h job.HandlerFunc, options ...job.Option) (*job.Scheduler, error) {
	reg, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	m, err := job.Schedule(ctx, reg, cfg, h, options...)
	if err != nil {
		return nil, err
	}
	s.exits = append(s.exits, func() error { return within(ctx, m.Shutdown) })
	return m, nil
}

// clear ends all that was started.
func (s *stage) clear() error {
	var errs []error
	for n := len(s.exits) - 1; n >= 0; n-- {
		errs = append(errs, s.exits[n]())
	}
	return errors.Join(errs...)
}

// within ends something with some seconds of its own, because ctx may have ended.
func within(ctx context.Context, end func(context.Context) error) error {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return end(ending)
}

// say writes a line.
func (s *stage) say(format string, args ...any) { fmt.Fprintf(s.out, "    "+format+"\n", args...) }

// tell writes what has become of the items of a request.
func (s *stage) tell(results []job.ItemResult) {
	for _, r := range results {
		line := fmt.Sprintf("item %d: %v", r.Item, r.Outcome)
		if r.Error != "" {
			line += ", " + r.Error
		}
		s.say("%s", line)
	}
}

// await takes what comes next from a channel.
func await[T any](ctx context.Context, from <-chan T) (T, error) {
	select {
	case next := <-from:
		return next, nil
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// elapse lets time pass.
func elapse(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	_, err := await(ctx, timer.C)
	if err != nil {
		return err
	}
	return nil
}

// until waits until the status of an instance is as wanted, and returns it.
func until(ctx context.Context, m *job.Scheduler, ok func(job.Status) bool) (job.Status, error) {
	for {
		changed := m.Changed()
		if status := m.Status(); ok(status) {
			return status, nil
		}
		if _, err := await(ctx, changed); err != nil {
			return job.Status{}, err
		}
	}
}

// hasItems matches the status of an instance that has so many items.
func hasItems(n int) func(job.Status) bool {
	return func(s job.Status) bool { return len(s.Items) == n }
}

// Schedules of the scenes.
const (
	everySecond = "* * * * * ?"
	nightly     = "0 0 3 * * ?" // at three; none of the scenes comes to see it, but for chance
)

// once is a cron expression with a single tick.
func once(at time.Time) string {
	at = at.UTC()
	return fmt.Sprintf("%d %d %d %d %d ? %d", at.Second(), at.Minute(), at.Hour(), at.Day(), at.Month(), at.Year())
}

// nodes returns nodes at these addresses, each as a process of its own would have it.
func (s *stage) nodes(ctx context.Context, addresses ...string) ([]*job.Node, error) {
	var list []*job.Node
	for _, ip := range addresses {
		reg, err := s.dial(ctx)
		if err != nil {
			return nil, err
		}
		n, err := job.NewNode(reg, job.NodeConfig{Options: []job.Option{job.WithIP(ip)}})
		if err != nil {
			return nil, err
		}
		s.exits = append(s.exits, func() error { return within(ctx, n.Shutdown) })
		list = append(list, n)
	}
	return list, nil
}
