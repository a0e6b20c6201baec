package postgres

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/elasticjob-go/elasticjob/internal/testserver/database"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtest"
	"github.com/elasticjob-go/elasticjob/ops"
)

// patience bounds each wait. Nothing takes that long; a slow machine may need more than others.
const patience = time.Minute

// tick is one of the past, which the tests ask for.
var tick = time.Date(2020, 1, 1, 3, 0, 0, 0, time.UTC)

// firm is what runs the job: two processes, each with connections of its own to one database.
type firm struct {
	*testing.T
	*jobtest.Cluster
	dsn string
	db  *sql.DB // of the test
}

// newFirm opens the firm, with 100 orders in each shard.
func newFirm(t *testing.T) *firm {
	f := &firm{T: t, dsn: servers.Database(t, database.PostgreSQL).DSN()}
	f.db = f.pool()
	f.exec(Schema)
	f.exec(`INSERT INTO shards (shard) VALUES (0), (1)`)
	f.exec(`INSERT INTO orders (shard, cents) SELECT n % 2, n FROM generate_series(1, 200) n`)
	f.Cluster = jobtest.RealTime(t) // after the connections, so that these are closed when nothing runs any more
	return f
}

func (f *firm) pool() *sql.DB {
	db, err := sql.Open("pgx", f.dsn)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := db.Close(); err != nil {
			f.Error(err)
		}
	})
	return db
}

func (f *firm) exec(statement string) {
	f.Helper()
	if _, err := f.db.ExecContext(f.Context(), statement); err != nil {
		f.Fatalf("%s: %v", statement, err)
	}
}

// number returns what a query of one number returns.
func (f *firm) number(query string) (n int) {
	f.Helper()
	if err := f.db.QueryRowContext(f.Context(), query).Scan(&n); err != nil {
		f.Fatalf("%s: %v", query, err)
	}
	return n
}

// begin starts the processes and asks for the tick. What becomes of the first execution of shard 0 is up to first.
func (f *firm) begin(first func(*jobtest.Process, job.HandlerFunc) job.HandlerFunc) {
	f.Helper()
	for _, address := range []string{"10.0.0.1", "10.0.0.2"} {
		db := f.pool()
		in, handle := f.Process(address), Settle(db)
		in.Schedule(Job(), job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 0 && sc.Source == job.SourceBackfill {
				return first(in, handle)(ctx, sc)
			}
			return handle(ctx, sc)
		}))
	}
	// No tick comes by itself during a pause.
	if _, err := f.Ops().Job("settle").Pause(f.Context(), ops.PauseRequest{}); err != nil {
		f.Fatal(err)
	}
	if _, err := f.Ops().Job("settle").Backfill(f.Context(), ops.BackfillRequest{From: tick, To: tick}); err != nil {
		f.Fatal(err)
	}
}

// check waits until both shards are settled, shard 0 by a failover, and checks that each order counts once.
func (f *firm) check() {
	f.Helper()
	f.Until(patience, func() bool {
		ok := f.Executions().Outcome(job.OutcomeOK)
		return ok.Item(0).Source(job.SourceFailover).Len() > 0 && ok.Item(1).Len() > 0 && f.Executions().Running().Len() == 0
	})
	f.Executions().Item(0).Tick(tick).Require(f, 2)
	jobtest.TokensGrow(f, f.Executions())
	if settled, all := f.number(`SELECT sum(cents) FROM shards`), f.number(`SELECT sum(cents) FROM orders`); settled != all {
		f.Errorf("%d cents are settled, of orders of %d\n%s", settled, all, f.Recorder())
	}
	if open := f.number(`SELECT count(*) FROM orders WHERE NOT settled`); open > 0 {
		f.Errorf("%d orders are open\n%s", open, f.Recorder())
	}
}

// A process dies in the middle of its transaction, while PostgreSQL has it wait for a lock. Nothing of the transaction
// stays, and another process settles the shard.
func TestItDiesInItsTransaction(t *testing.T) {
	t.Parallel()
	f := newFirm(t)
	lock, err := f.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback() }()
	if _, err := lock.ExecContext(t.Context(), `SELECT 1 FROM orders WHERE shard = 0 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	began := make(chan *jobtest.Process, 1)
	f.begin(func(in *jobtest.Process, settle job.HandlerFunc) job.HandlerFunc {
		began <- in
		return settle
	})
	dies := <-began
	f.Until(patience, func() bool {
		return f.number(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
	})
	dies.Die()
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	f.check()
}

// A process dies when its transaction is committed, and before the store knows that the execution has ended. So the
// tick is run again, which must not settle the orders again.
func TestItDiesAfterItsTransaction(t *testing.T) {
	t.Parallel()
	f := newFirm(t)
	f.begin(func(in *jobtest.Process, settle job.HandlerFunc) job.HandlerFunc {
		return func(ctx context.Context, sc job.ShardingContext) error {
			err := settle(ctx, sc)
			in.Die()
			return err
		}
	})
	f.check()
}

// A process stands still for longer than its session lasts. When it goes on, another one has settled the shard, and
// the fence refuses the late transaction.
func TestItWritesLate(t *testing.T) {
	t.Parallel()
	f := newFirm(t)
	late, settled := make(chan error, 1), make(chan struct{})
	goesOn := sync.OnceFunc(func() { close(settled) })
	defer goesOn()
	f.begin(func(in *jobtest.Process, settle job.HandlerFunc) job.HandlerFunc {
		return func(ctx context.Context, sc job.ShardingContext) error {
			in.LoseSession()
			<-settled
			err := settle(context.WithoutCancel(ctx), sc) // as if it had not noticed anything
			late <- err
			return err
		}
	})
	f.Until(patience, func() bool { return f.Executions().Item(0).Source(job.SourceFailover).Outcome(job.OutcomeOK).Len() > 0 })
	goesOn()
	if err := <-late; !errors.Is(err, ErrFenced) {
		t.Errorf("the late transaction: got error %v, want %v", err, ErrFenced)
	}
	f.check()
}
