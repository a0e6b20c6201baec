package world

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Namespaces that the console has: one with the jobs, and one in which nothing is.
const (
	Namespace = "shop"
	Empty     = "garage"
)

// Jobs that are there. Those with a schedule have ticks every few seconds.
const (
	Quick   = "count-orders"  // 3 items: is done at once, and has a line of log and an output
	Failing = "send-mail"     // 2 items: item 1 fails
	Long    = "rebuild-index" // 2 items: runs nearly always; has failover, and lines of log
	Script  = "clean-folders" // 2 items: a shell script, whose output are lines of log
	Once    = "import-list"   // 2 items: runs when it is triggered
	Orphan  = "old-billing"   // 1 item: no worker has what it needs
)

// Handlers of the workers, by the names of implementations; jobs of tests may have them, too.
const (
	Count   = "count"
	Mail    = "mail"
	Rebuild = "rebuild"
	Publish = "PUBLISH" // a type that describes its properties
)

// Failure is why item 1 of Failing fails.
const Failure = "451 mailbox busy"

// publish is a type of jobs that do nothing.
type publish struct{}

func (publish) Handler(job.Config) (job.Handler, error) {
	return job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }), nil
}

// Describe implements jobtype.Describer.
func (publish) Describe() []jobtype.PropertyInfo {
	return []jobtype.PropertyInfo{
		{Name: "publish.topic", Required: true, Allowed: "up to 255 bytes", Meaning: "where items are published"},
		{Name: "publish.copies", Default: "1", Allowed: "1 to 10", Meaning: "how often each is"},
		{Name: "publish.password", Secret: true, Meaning: "the password of the broker"},
		{Name: "publish.label.*", Meaning: "a label"},
	}
}

func handlers(scripts job.Type) map[string]job.Handler {
	return map[string]job.Handler{
		script.Name: job.OfType(script.Name, scripts),
		Publish:     job.OfType(Publish, publish{}),
		Count: job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			job.Logger(ctx).Info("counted", "item", sc.Item, "parameter", sc.JobParameter)
			job.SetOutput(ctx, fmt.Appendf(nil, "%d orders", 7*(sc.Item+1)))
			return nil
		}),
		Mail: job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 {
				job.Logger(ctx).Error("the server refuses", "code", 451)
				return errors.New(Failure)
			}
			return nil
		}),
		Rebuild: job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			for percent := 0; percent <= 100; percent += 2 {
				job.Logger(ctx).Info("progress", "percent", percent)
				if !sleep.For(ctx, time.Second) {
					return context.Cause(ctx)
				}
			}
			return nil
		}),
	}
}

// create makes all jobs.
func create(ctx context.Context, o *ops.Ops) error {
	const echo = `["/bin/sh","-c","echo cleaning folder $ELASTICJOB_ITEM; echo done"]`
	for _, r := range []ops.CreateRequest{
		{Implementation: Count, Config: jobtype.Config{Name: Quick, Description: "Counts orders", Cron: "0/5 * * * * ?", ShardingTotalCount: 3, ShardingItemParameters: "0=Berlin,1=上海,2=Lima"}},
		{Implementation: Mail, Config: jobtype.Config{Name: Failing, Description: "Sends mail; one fails", Cron: "0/10 * * * * ?", ShardingTotalCount: 2}},
		{Implementation: Rebuild, Config: jobtype.Config{Name: Long, Description: "Takes long", Cron: "0/10 * * * * ?", ShardingTotalCount: 2, Failover: true}},
		{Implementation: script.Name, Config: jobtype.Config{Name: Script, Description: "A shell script", Cron: "0/10 * * * * ?", ShardingTotalCount: 2, Props: map[string]string{"script.command.args": echo}}},
		{Implementation: Count, Config: jobtype.Config{Name: Once, Description: "When somebody wants it", ShardingTotalCount: 2}},
		{Implementation: "com.example.OldBilling", Config: jobtype.Config{Name: Orphan, Description: "Nobody offers it", Cron: "0 0/10 * * * ?", ShardingTotalCount: 1}},
	} {
		if err := o.Create(ctx, r); err != nil {
			return fmt.Errorf("create %s: %w", r.Config.Name, err)
		}
	}
	return nil
}

// Job makes a job for a test, which may do with it what it wants, and waits until the workers have it. It is
// removed at the end. implementation is that of a handler.
func (w *World) Job(t testing.TB, implementation string, c jobtype.Config) {
	t.Helper()
	w.Start(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.ops.Create(ctx, ops.CreateRequest{Config: c, Implementation: implementation}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := w.ops.Job(c.Name).Remove(ctx, ops.RemoveRequest{}); err != nil && !errors.Is(err, ops.ErrNoJob) { // the test has
			t.Error(err)
		}
	})
	if err := w.ready(ctx, c.Name); err != nil {
		t.Fatal(err)
	}
}

// ready waits until the workers that run have the jobs, and nobody else does.
func (w *World) ready(ctx context.Context, names ...string) error {
	for _, name := range names {
		for {
			instances, err := w.ops.Job(name).Instances(ctx)
			if err == nil && w.crew.are(instances) {
				break
			}
			if !sleep.For(ctx, 50*time.Millisecond) {
				return fmt.Errorf("%s has %d instances, and not those of the workers: %w", name, len(instances), errors.Join(err, context.Cause(ctx)))
			}
		}
	}
	return nil
}
