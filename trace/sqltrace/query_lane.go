package sqltrace

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

const (
	// fewExecutions may be read one by one, for cells that are shorter than those in which executions are counted.
	fewExecutions = 50_000
	shortCells    = 240
)

// Lanes returns what has become of all jobs from one time up to another. If more than 50,000 executions have begun in it, it
// has what was counted of each quarter of an hour: to read a million rows takes longer than whoever looks at a console waits.
func (t *Tracer) Lanes(ctx context.Context, from, to time.Time) (history.Lanes, error) {
	length := to.Sub(from)
	if from.IsZero() || length <= 0 || length > history.MaxLanesTime {
		return history.Lanes{}, fmt.Errorf("%w: lanes from %v to %v: up to %v are allowed", history.ErrQuery, from, to, history.MaxLanesTime)
	}
	many, err := t.areMany(ctx, from, to)
	if err != nil {
		return history.Lanes{}, err
	}
	step, isAll := max(length/shortCells, time.Second).Truncate(time.Second), false
	l := newLanes(from.UTC().Truncate(time.Second), to, step)
	if !many && step < slot {
		if isAll, err = t.laneExecutions(ctx, l, to); err != nil {
			return history.Lanes{}, err
		}
	}
	if !isAll {
		l = newLanes(from.UTC().Truncate(slot), to, slot)
		if err := t.laneCounts(ctx, l, to); err != nil {
			return history.Lanes{}, err
		}
	}
	err = t.laneMissed(ctx, l, to)
	return l.found, err
}

func (t *Tracer) areMany(ctx context.Context, from, to time.Time) (bool, error) {
	var n int64
	query := "SELECT COALESCE(SUM(executions), 0) FROM " + tableCount + " WHERE job_name = '' AND slot_micros >= ? AND slot_micros < ?"
	err := t.read(ctx, tableCount, query, []any{from.Truncate(slot).UnixMicro(), to.UnixMicro()}, func(row scanner) error { return row.Scan(&n) })
	return n > fewExecutions, err
}

// lanes are cells that are being filled.
type lanes struct {
	found  history.Lanes
	count  int
	failed []history.Outcome
}

func newLanes(from, to time.Time, step time.Duration) *lanes {
	return &lanes{history.Lanes{From: from, Step: step, Cells: map[string][]history.Cell{}}, int((to.Sub(from) + step - 1) / step), history.Failures()}
}

// at returns the cell of a job at a time; one that nobody looks at if there is none.
func (l *lanes) at(job sql.RawBytes, micros int64) *history.Cell {
	n := int(time.UnixMicro(micros).Sub(l.found.From) / l.found.Step)
	cells, isThere := l.found.Cells[string(job)]
	if !isThere {
		if len(l.found.Cells) == history.MaxLanes {
			l.found.More = true
			return &history.Cell{}
		}
		cells = make([]history.Cell, l.count)
		l.found.Cells[string(job)] = cells
	}
	return &cells[min(max(n, 0), l.count-1)]
}

func (l *lanes) add(job sql.RawBytes, micros int64, outcome sql.RawBytes, n int64) {
	cell := l.at(job, micros)
	cell.Executions += int32(n)
	if slices.Contains(l.failed, history.Outcome(outcome)) {
		cell.Failed += int32(n)
	}
}

// laneExecutions reads executions one by one, and reports whether these are all.
func (t *Tracer) laneExecutions(ctx context.Context, l *lanes, to time.Time) (bool, error) {
	var w where
	if err := executionKey.within(t.dialect, &w, l.found.From, to, ""); err != nil {
		return false, err
	}
	query := fmt.Sprintf("SELECT job_name, COALESCE(start_micros, %s), %s FROM %s%s%s LIMIT %d",
		t.dialect.micros("start_time"), t.dialect.outcome(""), tableExecution, &w, executionKey.newestFirst(), fewExecutions+1)
	rows := 0
	err := t.read(ctx, tableExecution, query, w.args, func(row scanner) error {
		var job, outcome sql.RawBytes
		var start int64
		err := row.Scan(&job, &start, &outcome)
		l.add(job, start, outcome, 1)
		rows++
		return err
	})
	return rows <= fewExecutions, err
}

func (t *Tracer) laneCounts(ctx context.Context, l *lanes, to time.Time) error {
	query := "SELECT job_name, slot_micros, outcome, executions FROM " + tableCount + " WHERE slot_micros >= ? AND slot_micros < ? AND job_name <> ''"
	return t.read(ctx, tableCount, query, []any{l.found.From.UnixMicro(), to.UnixMicro()}, func(row scanner) error {
		var job, outcome sql.RawBytes
		var start, n int64
		err := row.Scan(&job, &start, &outcome, &n)
		l.add(job, start, outcome, max(n, 0)) // less, if retention has removed the count of a run that was lost and ended
		return err
	})
}

// laneMissed adds the ticks that were missed, at the last of those that were noticed together.
func (t *Tracer) laneMissed(ctx context.Context, l *lanes, to time.Time) error {
	var w where
	w.among("kind", kindName(jobtype.EventMadeUp), kindName(jobtype.EventSkipped))
	w.add("time_micros >= ?", l.found.From.UnixMicro())
	w.add("time_micros < ?", to.UnixMicro())
	const at = "COALESCE(scheduled_micros, time_micros)"
	query := fmt.Sprintf("SELECT job_name, %[1]s - (%[1]s - %[2]d) %% %[3]d, COALESCE(SUM(ticks), 0) FROM %[4]s%[5]s GROUP BY 1, 2",
		at, l.found.From.UnixMicro(), l.found.Step.Microseconds(), tableEvent, &w)
	return t.read(ctx, tableEvent, query, w.args, func(row scanner) error {
		var job sql.RawBytes
		var at, ticks int64
		err := row.Scan(&job, &at, &ticks)
		l.at(job, at).Missed += int32(min(ticks, 1e9))
		return err
	})
}
