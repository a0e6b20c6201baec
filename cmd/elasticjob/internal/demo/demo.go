//go:build unix

package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/dev"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Namespace is the one of the demo, in its store and in the console.
const Namespace = "demo"

// Options say how the demo runs.
type Options struct {
	// Worker is the command line of a worker; its orders come behind it, as one argument.
	Worker []string
	// Log is told what happens. Default: nobody.
	Log *slog.Logger
	// Rest is the time between two kills of a worker. Default 3 min; the first comes after a quarter of it.
	Rest time.Duration
}

// Demo runs until it is closed.
type Demo struct {
	// Ops are the operations on the namespace, with the history.
	Ops *ops.Ops

	// Store has the namespace and its history, for whoever else wants to get to them.
	Store *dev.Store

	partner *partner
	reg     coord.Registry
	crew    *crew
	end     context.CancelFunc
	running sync.WaitGroup
	log     *slog.Logger
}

// Start starts everything, and returns when the jobs are there and the workers have been started. Close
// it, also if Start returns an error.
//
// The day of history is written meanwhile: it is complete some seconds later.
func Start(ctx context.Context, o Options) (*Demo, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Rest == 0 {
		o.Rest = 3 * time.Minute
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	d := &Demo{end: end, log: o.Log}
	if err := d.start(ctx, life, o); err != nil {
		return d, fmt.Errorf("demo: %w", err)
	}
	return d, nil
}

// start does so; what runs on ends with life.
func (d *Demo) start(ctx, life context.Context, o Options) (err error) {
	if d.Store, err = dev.Start(ctx, dev.Options{Listen: "127.0.0.1:0", Namespace: Namespace}); err != nil {
		return err
	}
	past := d.Store.History
	orders := Orders{Endpoints: []string{d.Store.Settings.Endpoints}, History: strings.TrimPrefix(d.Store.Settings.History, "sqlite:")}
	if d.reg, err = orders.dial(ctx); err != nil {
		return err
	}
	d.Ops = ops.New(d.reg, ops.WithHistory(past), ops.WithTrace(past, d.notTraced))
	if d.partner, err = startPartner(); err != nil {
		return err
	}
	if err := create(ctx, d.Ops.By("demo"), d.partner.URL()); err != nil {
		return err
	}
	d.crew = newCrew(o.Worker, orders, d.log)
	for i := range workers {
		if err := d.crew.start(i); err != nil {
			return err
		}
	}
	d.running.Go(func() { seed(life, past, time.Now(), d.log) })
	d.running.Go(func() { d.mishaps(life, o.Rest) })
	return nil
}

// notTraced says what the history does not have. The audit has it.
func (d *Demo) notTraced(made ops.Change, err error) {
	d.log.Warn("a change is not in the history", "change", made.ID, "error", err)
}

// mishaps kills a worker now and then, in the middle of its work, and starts it again.
func (d *Demo) mishaps(ctx context.Context, pause time.Duration) {
	for alive := sleep.For(ctx, pause/4); alive; alive = sleep.For(ctx, time.Second) {
		victim, isThere := d.victim(ctx)
		if isThere {
			d.crew.mishap(ctx, victim)
			sleep.For(ctx, pause)
		}
	}
}

// victim returns the worker that is in the middle of the job that is there to be interrupted, if one is.
func (d *Demo) victim(ctx context.Context) (worker int, isThere bool) {
	items, err := d.Ops.Job(interrupted).Items(ctx)
	if err != nil {
		d.log.Warn("which worker runs what cannot be told", "error", err)
		return 0, false
	}
	for _, item := range items {
		for i := range workers {
			if item.Run != nil && item.Server == address(i) {
				return i, true
			}
		}
	}
	return 0, false
}

// Close ends everything, and removes all that was written. ctx bounds how long it waits.
func (d *Demo) Close(ctx context.Context) error {
	d.end()
	d.running.Wait()
	var errs []error
	if d.crew != nil {
		d.crew.close()
	}
	if d.partner != nil {
		d.partner.close()
	}
	if d.reg != nil {
		errs = append(errs, d.reg.Close(ctx))
	}
	if d.Store != nil {
		errs = append(errs, d.Store.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}

// Orders are what a worker is told.
type Orders struct {
	Number    int      `json:"number"`
	Endpoints []string `json:"endpoints"`
	History   string   `json:"history"`
}

// sessionTimeout is how long a worker that was killed seems alive. It is short, so that people need not wait.
const sessionTimeout = 3 * time.Second

func (o Orders) dial(ctx context.Context) (coord.Registry, error) {
	reg, err := etcd.Dial(ctx, etcd.Config{Endpoints: o.Endpoints, Namespace: Namespace, SessionTimeout: sessionTimeout})
	if err != nil {
		return nil, err // reg would be a nil pointer
	}
	return reg, nil
}

// workers is how many there are.
const workers = 3

// address is that of a worker's host. The whole of 127.0.0.0/8 is this host.
func address(worker int) string { return fmt.Sprintf("127.0.0.%d", 11+worker) }
