package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/job"
)

// work runs one instance of the job, until SIGTERM tells it to leave. This is all that a program has to do to run a
// sharded cron job.
func work(s settings) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	registry, err := s.dial(ctx)
	if err != nil {
		return err
	}
	scheduler, err := job.Schedule(ctx, registry, job.Config{
		Name:               s.job,
		Cron:               fmt.Sprintf("0/%d * * * * ?", int(every.Seconds())),
		ShardingTotalCount: items,
		Failover:           true,
		MisfireTolerance:   every / 4, // what comes later is a make-up
		Threads:            items,     // all at once, even in the last instance
	}, job.HandlerFunc(s.run), job.WithSlog(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))))
	if err != nil {
		return errors.Join(err, registry.Close(context.Background()))
	}
	select {
	case <-ctx.Done(): // SIGTERM
	case <-scheduler.Done(): // somebody has removed the job
	}
	drain, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return errors.Join(scheduler.Shutdown(drain), registry.Close(context.Background()))
}

// dial is the only place where the choice of a store matters.
func (s settings) dial(ctx context.Context) (coord.Registry, error) {
	const namespace = "quickstart"
	servers := strings.Split(s.servers, ",")
	if s.store == zookeeper {
		return zk.Dial(ctx, zk.Config{Servers: servers, Namespace: namespace, SessionTimeout: sessionTimeout})
	}
	return etcd.Dial(ctx, etcd.Config{Endpoints: servers, Namespace: namespace, SessionTimeout: sessionTimeout})
}

// run is one execution of one item: it counts the item's share of the files and reports the result. The report has the
// token, so that the result can be refused if another instance has run the item meanwhile.
func (s settings) run(ctx context.Context, sc job.ShardingContext) error {
	r := report{Instance: sc.InstanceID, Item: sc.Item, Tick: sc.ScheduledTime, Source: sc.Source, Token: sc.Token, State: running}
	if err := r.send(); err != nil {
		return err
	}
	var err error
	r.Result, err = count(ctx, s.dir, sc.Item, sc.Total, atLeast)
	switch {
	case err == nil:
		r.State = finished
	case ctx.Err() != nil:
		r.State = cutShort
	default:
		r.State, r.Error = failed, err.Error()
	}
	return errors.Join(err, r.send())
}

// report is what a worker says about a run when it begins and when it ends: a line of JSON on its standard output. What
// it has written stays in the pipe when it is killed.
type report struct {
	Instance string
	Item     int
	Tick     time.Time
	Source   job.Source
	Token    int64
	State    state
	Result   result
	Error    string
}

// state says how far a run has come.
type state int

const (
	running  state = iota
	finished       // with a result
	failed         // with an error
	cutShort       // by the end of its process or of its session
)

// send may be called from several goroutines: a line is one write.
func (r report) send() error { return json.NewEncoder(os.Stdout).Encode(r) }
