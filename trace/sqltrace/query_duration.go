package sqltrace

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Durations looks at the newest 2000 executions of a job, or of all jobs if it is empty, that
// have ended and that began at from or later and before to. When a run that was lost has ended
// nobody knows, so it is not among them.
func (t *Tracer) Durations(ctx context.Context, jobName string, from, to time.Time) (history.Durations, error) {
	var w where
	w.equal("job_name", jobName)
	if err := executionKey.within(t.dialect, &w, from, to, ""); err != nil {
		return history.Durations{}, err
	}
	w.add("complete_time IS NOT NULL AND (duration_micros IS NOT NULL OR outcome IS NULL)") // JVMs write neither
	start, complete := t.dialect.micros("start_time"), t.dialect.micros("complete_time")
	query := fmt.Sprintf("SELECT %s, COALESCE(duration_micros, %s - %s) FROM %s%s%s LIMIT %d",
		start, complete, start, tableExecution, &w, executionKey.newestFirst(), history.MostDurations+1)
	var micros []int64
	var oldest int64
	err := t.read(ctx, tableExecution, query, w.args, func(row scanner) error {
		if len(micros) == history.MostDurations {
			micros = append(micros, 0) // there are more
			return nil
		}
		var took int64
		err := row.Scan(&oldest, &took)
		micros = append(micros, max(took, 0)) // the clock of a JVM may have been set back
		return err
	})
	if err != nil || len(micros) == 0 {
		return history.Durations{All: err == nil}, err
	}
	d := history.Durations{Since: timeOf(oldest), All: len(micros) <= history.MostDurations}
	micros = micros[:min(len(micros), history.MostDurations)]
	slices.Sort(micros)
	d.Executions = len(micros)
	rank := func(percent int) time.Duration {
		return time.Duration(micros[(percent*len(micros)+99)/100-1]) * time.Microsecond
	}
	d.P50, d.P95, d.P99, d.Max = rank(50), rank(95), rank(99), rank(100)
	return d, nil
}
