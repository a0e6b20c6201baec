package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/integration/worker"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Operator steers jobs through package ops, over links of his own to the store, and writes down
// what he asked for and what he was told. One goroutine at a time may call his methods.
type Operator struct {
	cluster *Cluster
	links   links
	reg     *numbered
	ops     *ops.Ops

	waiting sync.WaitGroup // for answers to requests
	ctx     context.Context
	leave   context.CancelFunc
}

// Hire starts an operator, who leaves when the cluster is closed. A request of his may take half the
// time-out of his session.
func (c *Cluster) Hire(ctx context.Context, session time.Duration) (*Operator, error) {
	l, err := newLinks(c.store.Addresses())
	if err != nil {
		return nil, err
	}
	user, password := c.store.Login()
	if user != "" {
		user = rootUser
	}
	reg, err := worker.Dial(ctx, worker.Config{
		Store: c.store.Kind(), Servers: l.addresses(), Namespace: c.namespace, SessionTimeout: session, User: user, Password: password,
	}, nil)
	if err != nil {
		l.close()
		return nil, err
	}
	o := &Operator{cluster: c, links: l, reg: &numbered{Registry: reg}}
	o.ops = ops.New(o.reg).By("operator")
	o.ctx, o.leave = context.WithCancel(context.Background())
	c.mu.Lock()
	c.operators = append(c.operators, o)
	c.mu.Unlock()
	return o, nil
}

func (o *Operator) close() error {
	o.leave()
	o.waiting.Wait()
	err := closeRegistry(o.reg)
	o.links.close()
	return err
}

// Break gives his links a fault until Mend: see Worker.Break. It is no event of the history,
// because no promise allows for it.
func (o *Operator) Break(fault string) error {
	do, ok := doFault(fault)
	if !ok {
		return fmt.Errorf("cluster: links know no fault %q", fault)
	}
	o.links.each(do)
	return nil
}

// Mend ends the fault of his links.
func (o *Operator) Mend() { o.links.each((*proxy.Proxy).Heal) }

// numbered keeps the number of the last commit.
type numbered struct {
	coord.Registry
	mu   sync.Mutex
	last int64
}

func (n *numbered) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	number, err := n.Registry.Commit(ctx, ops...)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = number
	return number, err
}

func (n *numbered) number() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last
}

// isUnknown reports whether something may have happened although it has returned an error.
func isUnknown(err error) bool {
	return errors.Is(err, coord.ErrUnknownOutcome) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// insist does something until the registry has an answer. isDone says which errors mean that it
// is as wanted, because an earlier attempt, whose answer was lost, has done it (lost), or anyway.
func (o *Operator) insist(ctx context.Context, kind history.Kind, name string, do func() error, isDone func(err error, lost bool) bool) (e history.Event, err error) {
	call, lost := history.Mono(), false
	for {
		err = do()
		if err == nil || isDone(err, lost) {
			break
		}
		lost = lost || isUnknown(err)
		if ctx.Err() != nil || !isUnknown(err) && !errors.Is(err, coord.ErrUnavailable) && !errors.Is(err, ops.ErrBusy) || !sleep.For(ctx, patience) {
			break
		}
	}
	e = history.Now(kind)
	e.Job, e.Call = name, call
	switch {
	case err == nil && !lost:
		e.Token = o.reg.number()
	case err != nil && isDone(err, lost):
		err = nil
	case err != nil:
		e.Err = err.Error()
	}
	if err == nil || lost {
		return e, err
	}
	return history.Event{}, err // nothing has happened
}

// patience is the time between two attempts.
const patience = 100 * time.Millisecond

func (o *Operator) add(e history.Event) {
	if e.Kind != "" {
		o.cluster.add(e)
	}
}

// Hold pauses a job. On its end the ticks of the pause are made up or not.
func (o *Operator) Hold(ctx context.Context, name string, makeUp bool) error {
	e, err := o.insist(ctx, history.Hold, name, func() error {
		_, err := o.ops.Job(name).Pause(ctx, ops.PauseRequest{Why: "test", MakeUp: makeUp})
		return err
	}, func(err error, lost bool) bool { return lost && errors.Is(err, ops.ErrPaused) })
	e.Again = makeUp
	o.add(e)
	return err
}

// Release ends a pause, if there is one.
func (o *Operator) Release(ctx context.Context, name string) error {
	e, err := o.insist(ctx, history.Release, name, func() error {
		return o.ops.Job(name).Resume(ctx, ops.ResumeRequest{})
	}, func(err error, _ bool) bool { return errors.Is(err, ops.ErrNotPaused) })
	o.add(e)
	return err
}

// Kill ends the executions of items of a job; of all that run, if none is named. It returns how
// many.
func (o *Operator) Kill(ctx context.Context, name string, again bool, items ...int) (int, error) {
	call := history.Mono()
	killed, err := o.ops.Job(name).Kill(ctx, ops.KillRequest{Items: items, Failover: again})
	for _, k := range killed {
		e := history.Now(history.Killing)
		e.Job, e.Item, e.Token, e.Tick, e.Instance, e.Again, e.Call = name, k.Item, k.Token, k.Tick, k.Instance, again, call
		o.add(e)
	}
	if isUnknown(err) {
		e := history.Now(history.Killing)
		e.Job, e.Again, e.Call, e.Err = name, again, call, err.Error()
		o.add(e)
	}
	return len(killed), err
}

// Trigger asks for runs of items of a job, of all if none is named, and waits for the answer
// beside other things.
func (o *Operator) Trigger(ctx context.Context, name string, items ...int) (id string, err error) {
	call := history.Mono()
	r, err := o.ops.Job(name).Trigger(ctx, job.TriggerRequest{Items: items, Parameter: "p"})
	if err != nil {
		return "", o.refused(name, "trigger", call, err)
	}
	o.asked(name, "trigger", call, r.ID, r.Items, nil)
	return r.ID, nil
}

// Retry asks for the failed items of the last tick once more; for those that are named, also if
// they were cut short or killed.
func (o *Operator) Retry(ctx context.Context, name string, items ...int) (id string, err error) {
	call := history.Mono()
	r, err := o.ops.Job(name).Retry(ctx, ops.RetryRequest{Items: items})
	if err != nil {
		return "", o.refused(name, "retry", call, err)
	}
	o.asked(name, "retry", call, r.ID, r.Items, r.Ticks)
	return r.ID, nil
}

// Backfill asks for the ticks of a stretch of time that has passed.
func (o *Operator) Backfill(ctx context.Context, name string, from, to time.Time, items ...int) (id string, err error) {
	call := history.Mono()
	r, err := o.ops.Job(name).Backfill(ctx, ops.BackfillRequest{From: from, To: to, Items: items})
	if err != nil {
		return "", o.refused(name, "backfill", call, err)
	}
	o.asked(name, "backfill", call, r.ID, r.Items, r.Ticks)
	return r.ID, nil
}

// refused notes a request that may have been made although it has failed.
func (o *Operator) refused(name, what string, call int64, err error) error {
	if isUnknown(err) {
		e := history.Now(history.Asked)
		e.Job, e.Name, e.Call, e.Err = name, what, call, err.Error()
		o.add(e)
	}
	return err
}

func (o *Operator) asked(name, what string, call int64, id string, items []int, ticks []time.Time) {
	e := history.Now(history.Asked)
	e.Job, e.Name, e.Call, e.Request, e.Items, e.Ticks = name, what, call, id, items, ticks
	o.add(e)
	o.waiting.Go(func() { o.await(name, id) })
}

// await waits for the answer to a request, however often that fails.
func (o *Operator) await(name, id string) {
	call := history.Mono()
	for {
		results, err := o.ops.Job(name).AwaitRequest(o.ctx, id)
		if err != nil && !errors.Is(err, job.ErrNoRequest) {
			if !sleep.For(o.ctx, patience) {
				return
			}
			continue
		}
		e := history.Now(history.Answered)
		e.Job, e.Request, e.Call = name, id, call
		if err != nil {
			e.Err = err.Error()
		}
		for _, r := range results {
			e.Results = append(e.Results, history.Result{Item: r.Item, Outcome: r.Outcome.String(), Token: r.Token, Runs: r.Runs, Error: r.Error})
		}
		o.add(e)
		return
	}
}

// Cancel ends a request, if it has not ended.
func (o *Operator) Cancel(ctx context.Context, name, id string) error {
	e, err := o.insist(ctx, history.Cancel, name, func() error {
		return o.ops.Job(name).Cancel(ctx, id)
	}, func(err error, _ bool) bool { return errors.Is(err, job.ErrNoRequest) })
	e.Request = id
	o.add(e)
	return err
}

// Pin gives an item to the processes at an address, and Unpin to any.
func (o *Operator) Pin(ctx context.Context, name string, item int, address string, strict bool) error {
	e, err := o.insist(ctx, history.Pin, name, func() error {
		return o.ops.Job(name).Pin(ctx, item, ops.PinRequest{Address: address, Strict: strict})
	}, func(error, bool) bool { return false })
	e.Item, e.Address, e.Strict = item, address, strict
	o.add(e)
	return err
}

// Unpin ends Pin.
func (o *Operator) Unpin(ctx context.Context, name string, item int) error {
	e, err := o.insist(ctx, history.Unpin, name, func() error {
		return o.ops.Job(name).Unpin(ctx, item)
	}, func(error, bool) bool { return false })
	e.Item = item
	o.add(e)
	return err
}

// Reshard has the items of a job resharded.
func (o *Operator) Reshard(ctx context.Context, name string) error {
	e, err := o.insist(ctx, history.Redeal, name, func() error {
		return o.ops.Job(name).Reshard(ctx)
	}, func(error, bool) bool { return false })
	o.add(e)
	return err
}

// Answers waits until every request that was made has an answer.
func (c *Cluster) Answers(ctx context.Context) error {
	open := map[string]string{} // the job of each request
	err := c.AwaitAll(ctx, 0, "answers to requests", func(more []history.Event) bool {
		for i := range more {
			switch e := &more[i]; {
			case e.Kind == history.Answered:
				delete(open, e.Request)
			case e.Kind == history.Asked && e.Err == "":
				open[e.Request] = e.Job
			}
		}
		return len(open) == 0
	})
	if err != nil {
		err = fmt.Errorf("%w; open are %v", err, open)
	}
	return err
}
