package sqltrace

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Outlines returns what a timeline shows of the executions of a job, newest first: 100,000 at most.
func (t *Tracer) Outlines(ctx context.Context, q history.OutlineQuery) (history.Outlines, error) {
	if q.Limit == 0 {
		q.Limit = history.MostOutlines
	}
	switch {
	case q.Job == "" || q.From.IsZero() || q.To.IsZero():
		return history.Outlines{}, fmt.Errorf("%w: outlines: a job, from and to are needed", history.ErrQuery)
	case q.Limit < 0 || q.Limit > history.MostOutlines:
		return history.Outlines{}, fmt.Errorf("%w: limit %d: 1 to %d, or 0 for that, are allowed", history.ErrQuery, q.Limit, history.MostOutlines)
	}
	var w where
	w.equal("job_name", q.Job)
	if err := executionKey.within(t.dialect, &w, q.From, q.To, ""); err != nil {
		return history.Outlines{}, err
	}
	query := fmt.Sprintf("SELECT %s FROM %s%s%s LIMIT %d", t.dialect.outlineColumns(), tableExecution, &w, executionKey.newestFirst(), q.Limit+1)
	var found history.Outlines
	words := words{}
	err := t.read(ctx, tableExecution, query, w.args, func(row scanner) error {
		if len(found.Rows) == q.Limit {
			found.More = true
			return nil
		}
		x, err := words.outline(row)
		found.Rows = append(found.Rows, x)
		return err
	})
	return found, err
}

// outlineColumns are what words.outline takes. Times of JVMs are worked out for their rows only: that takes long.
func (d Dialect) outlineColumns() string {
	start := fmt.Sprintf("COALESCE(start_micros, %s)", d.micros("start_time"))
	return fmt.Sprintf(`id, sharding_item, COALESCE(instance, ''), COALESCE(run_source, execution_source), COALESCE(scheduled_micros, 0), %s,
		COALESCE(duration_micros, CASE WHEN complete_time IS NOT NULL THEN %s - %s END), %s`,
		start, d.micros("complete_time"), start, d.outcome(""))
}

// words are texts of which many rows have the same: each is kept once.
type words map[string]string

func (w words) of(text sql.RawBytes) string {
	word, isKnown := w[string(text)]
	if !isKnown {
		word = string(text)
		w[word] = word
	}
	return word
}

func (w words) outline(row scanner) (history.Outline, error) {
	var x history.Outline
	var instance, source, outcome sql.RawBytes
	var scheduled, start int64
	var took sql.NullInt64
	err := row.Scan(&x.ID, &x.Item, &instance, &source, &scheduled, &start, &took, &outcome)
	x.Instance, x.Source, x.Outcome = w.of(instance), sourceOf(string(source)), history.Outcome(w.of(outcome))
	x.ScheduledTime, x.StartTime, x.Duration = timeOf(scheduled), timeOf(start), -1
	if took.Valid {
		x.Duration = time.Duration(max(took.Int64, 0)) * time.Microsecond // the clock of a JVM may have been set back
	}
	return x, err
}
