package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/job"
)

// work runs one instance of the job, which leaves gracefully when ctx ends. This is all that a
// program has to do to run a sharded cron job.
func work(ctx context.Context, o orders, reports *reporter, log *zap.Logger) error {
	reg, err := o.Store.dial(ctx, log)
	if err != nil {
		return err
	}
	scheduler, err := job.Schedule(ctx, reg, job.Config{
		Name:               o.Job,
		Cron:               fmt.Sprintf("0/%d * * * * ?", int(o.Every.Seconds())),
		ShardingTotalCount: o.Items,
		Failover:           true,
		MisfireTolerance:   o.Every / 4, // what comes later is a make-up
		Threads:            o.Items,     // all at once, even in the last instance
	}, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		return o.run(ctx, sc, reports)
	}), job.WithLogger(log))
	if err != nil {
		return errors.Join(err, reg.Close(context.WithoutCancel(ctx)))
	}
	select {
	case <-ctx.Done():
	case <-scheduler.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return errors.Join(scheduler.Shutdown(drain), reg.Close(drain))
}

// run is one execution of one item: it counts the item's share of the files and reports the
// result. The report has the token, so that the result can be refused if another instance has
// run the item meanwhile.
func (o orders) run(ctx context.Context, sc job.ShardingContext, reports *reporter) error {
	about := reportOf(sc)
	if err := reports.send(begins, about); err != nil {
		return err
	}
	said := time.Now()
	counted, err := count(ctx, o.Dir, sc.Item, sc.Total, o.AtLeast, func(done, files int) {
		if time.Since(said) >= o.AtLeast/10 {
			said, about.Done, about.Files = time.Now(), done, files
			_ = reports.send(goesOn, about) // the report of the end returns the error
		}
	})
	if err != nil {
		about.Error, about.Cut = err.Error(), ctx.Err() != nil
	} else {
		about.Result = &counted
	}
	return errors.Join(err, reports.send(ends, about))
}

// orders are what an instance is told when it is started, as JSON on its command line.
type orders struct {
	Store   store         `json:"store"`
	Job     string        `json:"job"`
	Dir     string        `json:"dir"`
	Items   int           `json:"items"`
	Every   time.Duration `json:"every"`   // the job fires
	AtLeast time.Duration `json:"atLeast"` // an item takes
}

// workerCommand is the first argument of a process that is an instance.
const workerCommand = "worker"

// workerMain is main in the process of an instance. The instance leaves when it reads a line.
// When its standard input ends it ends at once, because the show is over.
func workerMain(args []string, in io.Reader, out io.Writer) error {
	signal.Ignore(os.Interrupt) // Ctrl-C reaches all processes; the first one tells the others to end
	var o orders
	if len(args) != 1 {
		return fmt.Errorf("%s: %d arguments: the orders as JSON are allowed", workerCommand, len(args))
	}
	if err := json.Unmarshal([]byte(args[0]), &o); err != nil {
		return fmt.Errorf("%s: orders: %w", workerCommand, err)
	}
	log, err := workerLog()
	if err != nil {
		return fmt.Errorf("%s: log: %w", workerCommand, err)
	}
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	go func() { // lives as long as the process
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			leave()
		}
		os.Exit(errorCode)
	}()
	return work(ctx, o, &reporter{out: out}, log)
}

// workerLog says on standard error what is worth a word.
func workerLog() (*zap.Logger, error) {
	c := zap.NewProductionConfig()
	c.Level = zap.NewAtomicLevelAt(zap.WarnLevel)
	c.Encoding = "console"
	c.EncoderConfig.TimeKey = ""
	c.DisableCaller, c.DisableStacktrace = true, true
	return c.Build()
}
