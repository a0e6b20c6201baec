//go:build unix

package demo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dataflow"
	"github.com/elasticjob-go/elasticjob/job/httpjob"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// handlers are the programs of the company, by the names of implementations.
func handlers(scripts, requests job.Type) map[string]job.Handler {
	return map[string]job.Handler{
		script.Name:  job.OfType(script.Name, scripts),
		httpjob.Name: job.OfType(httpjob.Name, requests),
		"payments":   job.HandlerFunc(settle),
		"orders":     dataflow.WithCursor(fetchOrders, importOrders),
		"reminder":   job.HandlerFunc(remind),
		"index":      job.HandlerFunc(rebuild),
		"caches":     job.HandlerFunc(refresh),
		"report":     job.HandlerFunc(report),
		"export":     job.HandlerFunc(export),
	}
}

// settle settles what has come in since the tick before.
func settle(ctx context.Context, sc job.ShardingContext) error {
	log := job.Logger(ctx)
	log.Info("settling", "city", sc.ItemParameter, "tick", sc.ScheduledTime.Format(time.TimeOnly))
	payments := 20 + rand.IntN(200)
	for done := 0; done < payments; done += 20 {
		if !sleep.For(ctx, time.Duration(100+rand.IntN(300))*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
	log.Info("settled", "payments", payments, "token", sc.Token)
	job.SetOutput(ctx, fmt.Appendf(nil, "%s: %d payments settled", sc.ItemParameter, payments))
	return nil
}

// order is a row of the data that orders are imported from.
type order struct{ id int }

// fetchOrders fetches what has come in: with each tick some more.
func fetchOrders(_ context.Context, sc job.ShardingContext, after, size int) ([]order, int, error) {
	until := int(sc.ScheduledTime.Unix()/20) * 7 // seven every twenty seconds
	after = max(after, until-50)
	var rows []order
	for id := after + 1; id <= until && len(rows) < size; id++ {
		rows = append(rows, order{id})
	}
	return rows, after + len(rows), nil
}

// importOrders imports them.
func importOrders(ctx context.Context, _ job.ShardingContext, rows []order) error {
	if !sleep.For(ctx, time.Duration(len(rows))*20*time.Millisecond) {
		return context.Cause(ctx)
	}
	job.Logger(ctx).Info("imported", "orders", len(rows), "last", rows[len(rows)-1].id)
	return nil
}

// remind fails now and then, for one item.
func remind(ctx context.Context, sc job.ShardingContext) error {
	job.Logger(ctx).Info("sending", "language", sc.ItemParameter)
	if !sleep.For(ctx, time.Duration(200+rand.IntN(800))*time.Millisecond) {
		return context.Cause(ctx)
	}
	if sc.Item == 2 && sc.ScheduledTime.Minute()%2 == 0 {
		job.Logger(ctx).Error("the mail server refuses", "code", 451)
		return errors.New("send to 34 customers: 451 mailbox busy, try again later")
	}
	return nil
}

// rebuild takes long, so that it can be interrupted.
func rebuild(ctx context.Context, sc job.ShardingContext) error {
	log := job.Logger(ctx)
	log.Info("rebuilding", "shard", sc.Item, "source", sc.Source)
	for percent := 0; percent < 100; percent += 10 {
		if !sleep.For(ctx, time.Duration(2500+rand.IntN(2000))*time.Millisecond) {
			return context.Cause(ctx)
		}
		log.Info("progress", "percent", percent+10)
	}
	return nil
}

// refresh is for every instance.
func refresh(ctx context.Context, sc job.ShardingContext) error {
	job.Logger(ctx).Info("refreshed", "instance", sc.InstanceID)
	sleep.For(ctx, 50*time.Millisecond)
	return nil
}

// report is for the night.
func report(ctx context.Context, sc job.ShardingContext) error {
	for page := range 20 {
		if !sleep.For(ctx, 500*time.Millisecond) {
			return context.Cause(ctx)
		}
		job.Logger(ctx).Info("page written", "region", sc.ItemParameter, "page", page+1)
	}
	return nil
}

// export panics now and then, as programs do.
func export(ctx context.Context, sc job.ShardingContext) error {
	if !sleep.For(ctx, time.Second) {
		return context.Cause(ctx)
	}
	if sc.Item == 0 && sc.ScheduledTime.Minute()%3 == 0 {
		var rows []string
		return errors.New(rows[sc.ScheduledTime.Second()]) // out of range
	}
	return nil
}
