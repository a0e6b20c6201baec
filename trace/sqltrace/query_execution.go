package sqltrace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

var executionKey = key{"start_time", kindTime}

// Executions returns the executions that f means, newest first.
//
// A page is found in an index if f has a Job, an IP, an Instance or only outcomes of those that have
// ended without success, or nothing. What else it has is looked at row by row, so a rare one should come with From.
func (t *Tracer) Executions(ctx context.Context, f history.ExecutionFilter) (history.Page[history.Execution], error) {
	w, err := t.dialect.whereExecution(f)
	if err != nil {
		return history.Page[history.Execution]{}, err
	}
	limit, err := checkLimit(f.Limit)
	if err != nil {
		return history.Page[history.Execution]{}, err
	}
	query := fmt.Sprintf("SELECT %s FROM %s%s%s LIMIT %d", t.dialect.executionColumns(""), tableExecution, w, executionKey.newestFirst(), limit+1)
	list, err := t.readExecutions(ctx, query, w.args)
	if err != nil {
		return history.Page[history.Execution]{}, err
	}
	return page(list, limit), nil
}

func (d Dialect) whereExecution(f history.ExecutionFilter) (*where, error) {
	w := &where{}
	if len(f.Items) > 0 && f.Job == "" {
		return nil, fmt.Errorf("%w: items %v without a job", history.ErrQuery, f.Items)
	}
	if len(f.Items) > history.MaxLimit || len(f.Outcomes) > history.MaxLimit {
		return nil, fmt.Errorf("%w: %d items, %d outcomes: %d are allowed", history.ErrQuery, len(f.Items), len(f.Outcomes), history.MaxLimit)
	}
	w.equal("job_name", f.Job)
	if len(f.Items) > 0 {
		w.among("sharding_item", anys(f.Items)...)
	}
	w.equal("instance", f.Instance)
	ip := f.IP
	if ip == "" && f.Instance != "" {
		ip = maker{}.text(address(f.Instance), maxAddress) // as it is written; for its index
	}
	w.equal("ip", ip)
	if f.Source != 0 {
		w.add(runSource+" = ?", f.Source.String())
	}
	if len(f.Outcomes) > 0 {
		if onlyUnsuccessful(f.Outcomes) {
			w.add(d.failed())
		}
		w.among(d.outcome(""), anys(f.Outcomes)...)
	}
	w.equal("request_id", f.RequestID)
	return w, executionKey.within(d, w, f.From, f.To, f.After)
}

func anys[T any](list []T) []any {
	all := make([]any, len(list))
	for i, v := range list {
		all[i] = v
	}
	return all
}

func onlyUnsuccessful(outcomes []history.Outcome) bool {
	for _, o := range outcomes {
		if o == history.OutcomeRunning || o == history.OutcomeOf(jobtype.OutcomeOK) {
			return false
		}
	}
	return true
}

// failed is the condition of the index EJ_EXECUTION_FAILED. ElasticJob leaves complete_time out
// where it inserts a failure.
func (d Dialect) failed() string {
	if d == PostgreSQL {
		return "NOT is_success AND (complete_time IS NOT NULL OR failure_cause IS NOT NULL)"
	}
	return "is_success = 0 AND (complete_time IS NOT NULL OR failure_cause IS NOT NULL)"
}

// outcome returns the expression for the outcome of a row; of is the table's alias with a dot.
func (d Dialect) outcome(of string) string {
	success := of + "is_success"
	if d != PostgreSQL {
		success += " <> 0"
	}
	return fmt.Sprintf(`CASE WHEN %[1]soutcome IS NOT NULL THEN %[1]soutcome WHEN %[1]scomplete_time IS NULL AND %[1]sfailure_cause IS NULL THEN 'RUNNING'
		WHEN %[2]s THEN 'OK' ELSE 'FAILED' END`, of, success)
}

// executionColumns are what scanExecution takes.
func (d Dialect) executionColumns(of string) string {
	return fmt.Sprintf(`%[1]sid, %[1]stask_id, %[1]sjob_name, %[1]ssharding_item, COALESCE(%[1]sinstance, ''), %[1]shostname, %[1]sip,
		COALESCE(%[1]srun_source, %[1]sexecution_source), COALESCE(%[1]sscheduled_micros, 0), %[2]s, COALESCE(%[1]sstart_micros, 0), %[3]s,
		COALESCE(%[1]swaited_micros, 0), COALESCE(%[1]sduration_micros, -1), COALESCE(%[1]stoken, 0), COALESCE(%[1]sattempts, 0), %[4]s,
		COALESCE(%[1]srequest_id, ''), COALESCE(%[1]soriginal_task_id, ''), COALESCE(%[1]sfailure_cause, '')`,
		of, d.micros(of+"start_time"), d.micros(of+"complete_time"), d.outcome(of))
}

func scanExecution(row scanner, more ...any) (placed[history.Execution], error) {
	var x history.Execution
	var source string
	var scheduled, start, exact, complete, waited, duration int64
	err := row.Scan(append([]any{&x.ID, &x.TaskID, &x.Job, &x.Item, &x.Instance, &x.Hostname, &x.IP,
		&source, &scheduled, &start, &exact, &complete, &waited, &duration, &x.Token, &x.Attempts, &x.Outcome,
		&x.RequestID, &x.OriginalTaskID, &x.Error}, more...)...)
	if err != nil {
		return placed[history.Execution]{}, err
	}
	x.Source = sourceOf(source)
	x.ScheduledTime, x.StartTime, x.CompleteTime = timeOf(scheduled), timeOf(start), timeOf(complete)
	if exact != 0 {
		x.StartTime = timeOf(exact)
	}
	x.Waited = time.Duration(waited) * time.Microsecond
	switch {
	case duration >= 0:
		x.Duration = time.Duration(duration) * time.Microsecond
		x.CompleteTime = x.StartTime.Add(x.Duration)
	case !x.CompleteTime.IsZero() && !x.StartTime.IsZero():
		x.Duration = max(x.CompleteTime.Sub(x.StartTime), 0)
	}
	return placed[history.Execution]{x, cursorAt(start, x.ID)}, nil
}

// sourceOf returns the source of that name; 0 if a later version has written it.
func sourceOf(name string) jobtype.Source {
	for s := jobtype.SourceNormal; s <= jobtype.SourceBackfill; s++ {
		if s.String() == name {
			return s
		}
	}
	return 0
}

func (t *Tracer) readExecutions(ctx context.Context, query string, args []any) ([]placed[history.Execution], error) {
	var list []placed[history.Execution]
	err := t.read(ctx, tableExecution, query, args, func(row scanner) error {
		x, err := scanExecution(row)
		list = append(list, x)
		return err
	})
	return list, err
}

// Execution returns one execution, with its Output. [history.ErrNotFound] says that there is none.
func (t *Tracer) Execution(ctx context.Context, id string) (history.Execution, error) {
	var list []history.Execution
	query := "SELECT " + t.dialect.executionColumns("") + ", COALESCE(output_tail, '') FROM " + tableExecution + " WHERE id = ?"
	err := t.read(ctx, tableExecution, query, []any{id}, func(row scanner) error {
		var output string
		x, err := scanExecution(row, &output)
		x.row.Output = output
		list = append(list, x.row)
		return err
	})
	switch {
	case err != nil:
		return history.Execution{}, err
	case len(list) == 0:
		return history.Execution{}, fmt.Errorf("%w: id %.60q", history.ErrNotFound, id)
	}
	return list[0], nil
}

// Bounds of a chain.
const (
	mostInChain     = 100
	mostOfItem      = 10_000
	clocksMayDiffer = time.Hour
)

// Chain returns the executions of the item of x for the tick of x, and those that repeat the
// same one as x does, x among them, oldest first: failovers, and what an operator has run
// again. It looks at 10,000 executions of the item from the tick on, and returns 100 at most.
// What a JVM has written stands alone.
func (t *Tracer) Chain(ctx context.Context, x history.Execution) ([]history.Execution, error) {
	if x.Instance == "" {
		return []history.Execution{x}, nil
	}
	first, from := cmp.Or(x.OriginalTaskID, x.ID), x.StartTime
	if !x.ScheduledTime.IsZero() {
		from = earlier(from, x.ScheduledTime)
	}
	original, err := t.Execution(ctx, first)
	switch {
	case err == nil && !original.StartTime.IsZero():
		from = earlier(from, original.StartTime)
	case err != nil && !errors.Is(err, history.ErrNotFound): // it may be too old to be there
		return nil, err
	}
	query := fmt.Sprintf(`SELECT %s FROM (SELECT id, scheduled_micros, original_task_id FROM %s WHERE job_name = ? AND sharding_item = ? AND start_time >= ?
		ORDER BY start_time, id LIMIT %d) tried JOIN %s x ON x.id = tried.id
		WHERE tried.id = ? OR tried.original_task_id = ? OR tried.scheduled_micros = ? ORDER BY x.start_time, x.id LIMIT %d`,
		t.dialect.executionColumns("x."), tableExecution, mostOfItem, tableExecution, mostInChain)
	list, err := t.readExecutions(ctx, query, []any{x.Job, x.Item, t.dialect.moment(from.Add(-clocksMayDiffer)), first, first, micros(x.ScheduledTime)})
	return rowsOf(list), err
}

// Latest returns the newest execution of each item of a job, by item: of items above after (-1
// is before the first), and as many as limit says. It asks for one item after the other.
func (t *Tracer) Latest(ctx context.Context, jobName string, after, limit int) ([]history.Execution, error) {
	limit, err := checkLimit(limit)
	if err != nil {
		return nil, err
	}
	query := fmt.Sprintf(`SELECT %[1]s FROM %[2]s WHERE job_name = ? AND sharding_item =
		(SELECT MIN(e.sharding_item) FROM %[2]s e WHERE e.job_name = ? AND e.sharding_item > ?) ORDER BY start_time DESC, id DESC LIMIT 1`,
		t.dialect.executionColumns(""), tableExecution)
	var list []history.Execution
	err = t.reading(ctx, tableExecution, func(ctx context.Context, on querier) error {
		for len(list) < limit {
			n := len(list)
			err := t.readOn(ctx, on, query, []any{jobName, jobName, after}, func(row scanner) error {
				x, err := scanExecution(row)
				list, after = append(list, x.row), x.row.Item
				return err
			})
			if err != nil || len(list) == n {
				return err
			}
		}
		return nil
	})
	return list, err
}

// Lines returns the lines of an execution's log after the line with number after; 0 is before
// the first one. Of an execution under way it may be asked again and again.
func (t *Tracer) Lines(ctx context.Context, id string, after, limit int) ([]trace.Line, error) {
	limit, err := checkLimit(limit)
	if err != nil {
		return nil, err
	}
	query := fmt.Sprintf("SELECT task_id, line_number, job_name, sharding_item, time_micros, level, text FROM %s WHERE task_id = ? AND line_number > ? ORDER BY line_number LIMIT %d",
		tableLine, limit)
	var list []trace.Line
	err = t.read(ctx, tableLine, query, []any{id, after}, func(row scanner) error {
		var l trace.Line
		var at int64
		var level int
		err := row.Scan(&l.TaskID, &l.Number, &l.Job, &l.Item, &at, &level, &l.Text)
		l.Time, l.Level = timeOf(at), slog.Level(level)
		list = append(list, l)
		return err
	})
	return list, err
}
