package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/fence"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/job"
)

// errFenced is what a handler returns after the fenced resource has refused its write.
var errFenced = errors.New("worker: refused by the fenced resource")

var errFailing = errors.New("worker: fails, as it should")

// writeEvery is how often a stubborn handler writes.
const writeEvery = 20 * time.Millisecond

// handler works on items: it writes to the fenced resource, takes its time, and writes
// again.
type handler struct {
	Job
	log   *history.Log
	fence *fence.Client
	gate  *gate
	work  func(context.Context, job.ShardingContext) error // what is done to an item
}

func (h handler) Execute(ctx context.Context, sc job.ShardingContext) error {
	e := history.Event{
		Job: sc.JobName, Item: sc.Item, Task: sc.TaskID, Tick: sc.ScheduledTime, Token: sc.Token,
		Source: sc.Source.String(), Instance: sc.InstanceID,
	}
	add := func(kind history.Kind, e history.Event) {
		now := history.Now(kind)
		e.Kind, e.Mono, e.Wall = now.Kind, now.Mono, now.Wall
		h.log.Add(e)
	}
	add(history.Start, e)
	cut := sync.OnceFunc(func() {
		e := e
		e.Cause = context.Cause(ctx).Error()
		add(history.Cut, e)
	})
	running := context.AfterFunc(ctx, cut)
	err := h.work(ctx, sc)
	if !running() {
		cut() // or wait until it is written
	}
	switch {
	case err == nil:
		e.Outcome = history.Done
	case ctx.Err() != nil && !errors.Is(err, errFenced):
		e.Outcome, e.Cause = history.Stopped, context.Cause(ctx).Error()
	case errors.Is(err, job.ErrItemMoves), errors.Is(err, job.ErrShutdown), errors.Is(err, job.ErrDisabled):
		e.Outcome, e.Cause = history.Stopped, err.Error()
	default:
		e.Outcome, e.Cause = history.Failed, err.Error()
	}
	add(history.End, e)
	return err
}

// items is the work of jobs that are neither streams nor scripts.
func (h handler) items(ctx context.Context, sc job.ShardingContext) error {
	if err := h.write(sc); err != nil {
		return err
	}
	if err := h.passTime(ctx, sc); err != nil {
		return err
	}
	h.gate.pass()
	if h.Failing && sc.Item == 0 && sc.Source != job.SourceRetry {
		return errFailing
	}
	return h.write(sc)
}

// passTime stands for the work: it waits.
func (h handler) passTime(ctx context.Context, sc job.ShardingContext) error {
	if len(h.Work) == 0 {
		return nil
	}
	done := time.NewTimer(h.Work[sc.Item%len(h.Work)])
	defer done.Stop()
	if !h.Stubborn {
		select {
		case <-done.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	again := time.NewTicker(writeEvery)
	defer again.Stop()
	for {
		select {
		case <-done.C:
			return nil
		case <-again.C:
			if err := h.write(sc); err != nil {
				return err
			}
		}
	}
}

func (h handler) write(sc job.ShardingContext) error {
	call := history.Mono()
	accepted, err := h.fence.Write(fmt.Sprintf("%s/%d", sc.JobName, sc.Item), sc.Token)
	e := history.Now(history.Write)
	e.Job, e.Item, e.Token, e.Call, e.Accepted, e.Task = sc.JobName, sc.Item, sc.Token, call, accepted, sc.TaskID
	if err != nil {
		e.Err = err.Error()
	}
	h.log.Add(e)
	if err == nil && !accepted {
		err = errFenced
	}
	return err
}
