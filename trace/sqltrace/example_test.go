package sqltrace_test

import (
	"context"
	"database/sql"
	"errors"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/sqltrace"
)

// A job with a history in PostgreSQL. The database need not be up.
func Example() {
	run := func(ctx context.Context, reg coord.Registry, dsn string, settle job.Handler) (err error) {
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		tracer, err := sqltrace.Open(db, sqltrace.PostgreSQL, sqltrace.Options{
			Retention: sqltrace.Retention{Age: 90 * 24 * time.Hour},
		})
		if err != nil {
			return err
		}
		defer tracer.Close()
		recorder, err := trace.New(tracer, trace.Options{})
		if err != nil {
			return err
		}
		s, err := job.Schedule(ctx, reg, job.Config{Name: "settle", Cron: "0 * * * * ?", ShardingTotalCount: 3}, settle, recorder.Option())
		if err != nil {
			return errors.Join(err, recorder.Close(ctx))
		}
		<-ctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		return errors.Join(s.Shutdown(drain), recorder.Close(drain)) // the recorder writes what it has
	}
	_ = run // it needs a registry and a database
}
