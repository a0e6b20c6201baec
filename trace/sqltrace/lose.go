package sqltrace

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

// Bounds of the search for the runs that an instance has left: an item's newest runs, items, and
// items of a statement. An answer for each item would take a batch of many items longer than a
// batch may take, again and again.
const (
	newestRuns    = 5
	mostRecovered = 1000
	itemsAtOnce   = 64
)

// lose closes the executions that an instance has left when it ended, and returns a row of
// their state for each. An instance that is alive after all writes their end itself later.
func (t *Tracer) lose(ctx context.Context, tx querier, m maker, e trace.Event, counts counts) ([]row, error) {
	var statuses []row
	left, err := t.running(ctx, tx, e.Job, e.From, e.Items[:min(len(e.Items), mostRecovered)])
	if err != nil {
		return nil, fmt.Errorf("look for what ran on %s of job %s: %w", e.From, e.Job, err)
	}
	for _, run := range left {
		_, err := tx.ExecContext(ctx, t.dialect.bind("UPDATE "+tableExecution+" SET "+columnEnd+" = ?, outcome = ? WHERE id = ?"),
			t.dialect.moment(e.Time), outcomeLost, run.task)
		if err != nil {
			return nil, fmt.Errorf("close task %s: %w", run.task, err)
		}
		counts.add(m.text(e.Job, maxJobName), run.start, outcomeLost, 1)
		about := e
		about.ID = uuid.NewSHA1(uuid.NameSpaceOID, []byte(e.ID+run.task)).String()
		about.Instance, about.Execution = e.From, jobtype.Execution{Item: run.item, Source: run.source}
		statuses = append(statuses, m.status(about, stateLost, run.original, run.task))
	}
	return statuses, nil
}

// leftRun is an execution without an end.
type leftRun struct {
	task, original string
	item           int
	start          int64 // in microseconds
	source         jobtype.Source
}

// running returns the executions of items that an instance has begun and not ended, among the
// newest ones of each item. As insert does, it has statements of few lengths.
func (t *Tracer) running(ctx context.Context, tx querier, jobName, instance string, items []int) ([]leftRun, error) {
	const found = "task_id, sharding_item, original_task_id, start_micros, execution_source, " + columnSource
	of := fmt.Sprintf("SELECT %[1]s FROM (SELECT %[1]s, instance, %[2]s FROM %[3]s"+
		" WHERE job_name = ? AND sharding_item = ? ORDER BY start_time DESC LIMIT %[4]d) newest WHERE instance = ? AND %[2]s IS NULL",
		found, columnEnd, tableExecution, newestRuns)
	var list []leftRun
	for n := itemsAtOnce; len(items) > 0; n /= 2 {
		query := of + strings.Repeat(" UNION ALL "+of, n-1)
		for len(items) >= n {
			var args []any
			for _, item := range items[:n] {
				args = append(args, jobName, item, instance)
			}
			err := t.readOn(ctx, tx, query, args, func(r scanner) error {
				var run leftRun
				var theirs string
				var original, ours sql.NullString
				err := r.Scan(&run.task, &run.item, &original, &run.start, &theirs, &ours)
				run.original, run.source = original.String, sourceOf(cmp.Or(ours.String, theirs))
				list = append(list, run)
				return err
			})
			if err != nil {
				return nil, err
			}
			items = items[n:]
		}
	}
	return list, nil
}
