package main

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/target"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// A worker runs the jobs of a script:
//
//	settle  every second, three items, each through at once
//	report  when triggered, two items: with the parameter fail the second one fails, and with the
//	        parameter long they run until their context ends
//
// Each logs a line.
type worker struct {
	reg   coord.Registry
	jobs  []*job.Scheduler
	close []func(context.Context) error // the history, the last one first
}

// startWorker runs the jobs in the namespace of a store, which is given as --store takes it. With a
// file it keeps the history there, in SQLite.
func startWorker(ctx context.Context, store, ip, file string) (w *worker, err error) {
	t, err := target.Settings{Store: store}.Target()
	if err != nil {
		return nil, err
	}
	w = &worker{}
	t.RequestTimeout = patience
	if w.reg, err = dial(ctx, t); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.end())
		}
	}()
	options := []job.Option{job.WithIP(ip), job.WithLabels("blue")}
	if file != "" {
		recorder, err := w.record(file)
		if err != nil {
			return w, err
		}
		options = append(options, recorder.Option())
	}
	for _, j := range []struct {
		config job.Config
		do     job.HandlerFunc
	}{
		{job.Config{Name: "settle", Cron: "0/1 * * * * ?", ShardingTotalCount: 3, Failover: true, Description: "settles \x1b[31mall\x1b[0m"}, settle},
		{job.Config{Name: "report", ShardingTotalCount: 2, Failover: true}, report},
	} {
		s, err := job.Schedule(ctx, w.reg, j.config, j.do, options...)
		if err != nil {
			return w, err
		}
		w.jobs = append(w.jobs, s)
	}
	return w, nil
}

// dial connects with a session that outlasts a machine that stands still: scripts want the worker to be there.
func dial(ctx context.Context, t *target.Target) (coord.Registry, error) {
	const session = 30 * time.Second
	if c, ok := t.EtcdConfig(); ok {
		c.DialTimeout, c.SessionTimeout = patience, session
		return etcd.Dial(ctx, c)
	}
	c, _ := t.ZooKeeperConfig() // there is no third kind
	c.DialTimeout, c.SessionTimeout = patience, session
	return zk.Dial(ctx, c)
}

// record opens the history.
func (w *worker) record(file string) (*trace.Recorder, error) {
	db, err := sql.Open("sqlite", file+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	w.close = append(w.close, func(context.Context) error { return db.Close() })
	tracer, err := sqltrace.Open(db, sqltrace.SQLite, sqltrace.Options{})
	if err != nil {
		return nil, err
	}
	w.close = append(w.close, func(context.Context) error { tracer.Close(); return nil })
	recorder, err := trace.New(tracer, trace.Options{Interval: 100 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	w.close = append(w.close, recorder.Close)
	return recorder, nil
}

// end stops the jobs.
func (w *worker) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var errs []error
	for _, s := range w.jobs {
		if err := s.Shutdown(ctx); !errors.Is(err, job.ErrJobRemoved) && !errors.Is(err, job.ErrInstanceRemoved) { // scripts do that
			errs = append(errs, err)
		}
	}
	for _, end := range slices.Backward(w.close) {
		errs = append(errs, end(ctx))
	}
	return errors.Join(append(errs, w.reg.Close(ctx))...)
}

// patience bounds every wait of a test.
const patience = 2 * time.Minute

func settle(ctx context.Context, sc job.ShardingContext) error {
	job.Logger(ctx).Info("settled")
	return nil
}

func report(ctx context.Context, sc job.ShardingContext) error {
	if sc.JobParameter == "silent" {
		return errors.New("no printer")
	}
	job.Logger(ctx).Info("printing \x1b[1mpages\x1b[0m")
	switch {
	case sc.JobParameter == "fail" && sc.Item == 1:
		return errors.New("no paper \x1b[31mleft\x1b[0m")
	case sc.JobParameter == "long":
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return nil
}
