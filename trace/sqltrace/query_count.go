package sqltrace

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Counts counts executions by hour or by day, at most 1000 of them. Hours and days without any
// are left out. It is exact, but for two things: what JVMs have written is not counted, and on
// MySQL a run is counted twice that ends at the moment at which it is declared lost.
func (t *Tracer) Counts(ctx context.Context, q history.CountQuery) ([]history.Count, error) {
	parts, err := partsOf(q)
	if err != nil {
		return nil, err
	}
	found := map[int64]history.Count{}
	for _, p := range parts {
		if err := t.countPart(ctx, q.Job, p, found); err != nil {
			return nil, err
		}
	}
	return byStart(found), nil
}

func (t *Tracer) countPart(ctx context.Context, jobName string, p part, found map[int64]history.Count) error {
	var w where
	w.add("job_name = ?", jobName)
	w.add("slot_micros >= ?", p.from.Truncate(slot).UnixMicro())
	w.add("slot_micros < ?", p.to.Truncate(slot).UnixMicro())
	query := fmt.Sprintf("SELECT %s, outcome, SUM(executions) FROM %s%s GROUP BY 1, 2", p.number(t.dialect, "slot_micros"), tableCount, &w)
	return t.read(ctx, tableCount, query, w.args, func(row scanner) error {
		var number, n int64
		var outcome history.Outcome
		if err := row.Scan(&number, &outcome, &n); err != nil || n <= 0 { // less, if retention has removed the count of a run that was lost and ended
			return err
		}
		start := p.start(number)
		c, ok := found[start.UnixMicro()]
		if !ok {
			c = history.Count{Start: start, Executions: map[history.Outcome]int64{}}
			found[start.UnixMicro()] = c
		}
		c.Executions[outcome] += n
		return nil
	})
}

// byStart returns what was found by the beginning of its hour or day, the first one first.
func byStart[T any](found map[int64]T) []T {
	list := make([]T, 0, len(found))
	for _, start := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[start])
	}
	return list
}
