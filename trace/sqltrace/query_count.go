package sqltrace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Counts counts executions by hour or by day, at most 1000 of them. Hours and days without any
// are left out. It is exact, but for two things: what JVMs have written is not counted, and on
// MySQL a run is counted twice that ends at the moment at which it is declared lost.
func (t *Tracer) Counts(ctx context.Context, q history.CountQuery) ([]history.Count, error) {
	zone := q.Zone
	if zone == nil {
		zone = time.UTC
	}
	length := map[history.Step]time.Duration{history.Hourly: time.Hour, history.Daily: 24 * time.Hour}[q.Step]
	switch {
	case length == 0:
		return nil, fmt.Errorf("%w: step %d: Hourly or Daily is allowed", history.ErrQuery, q.Step)
	case q.From.IsZero() || !q.From.Before(q.To) || q.To.Sub(q.From) > history.MaxSteps*length:
		return nil, fmt.Errorf("%w: from %v to %v by %v: 1 to %d times this are allowed", history.ErrQuery, q.From, q.To, length, history.MaxSteps)
	}
	found := map[int64]history.Count{} // by the beginning
	// The distance to UTC stays the same in each part.
	for from := q.From.In(zone); from.Before(q.To); {
		_, to := from.ZoneBounds()
		if to.IsZero() || to.After(q.To) {
			to = q.To
		}
		if err := t.countPart(ctx, q, from, to, length, found); err != nil {
			return nil, err
		}
		from = to.In(zone)
	}
	list := make([]history.Count, 0, len(found))
	for _, start := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[start])
	}
	return list, nil
}

func (t *Tracer) countPart(ctx context.Context, q history.CountQuery, from, to time.Time, length time.Duration, found map[int64]history.Count) error {
	_, seconds := from.Zone()
	offset := time.Duration(seconds) * time.Second
	divide := "/"
	if t.dialect == MySQL {
		divide = "DIV"
	}
	var w where
	w.add("job_name = ?", q.Job)
	w.add("slot_micros >= ?", from.Truncate(slot).UnixMicro())
	w.add("slot_micros < ?", to.Truncate(slot).UnixMicro())
	query := fmt.Sprintf("SELECT (slot_micros + %d) %s %d, outcome, SUM(executions) FROM %s%s GROUP BY 1, 2",
		offset.Microseconds(), divide, length.Microseconds(), tableCount, &w)
	return t.read(ctx, tableCount, query, w.args, func(row scanner) error {
		var step, n int64
		var outcome history.Outcome
		if err := row.Scan(&step, &outcome, &n); err != nil || n <= 0 { // less, if retention has removed the count of a run that was lost and ended
			return err
		}
		start := time.UnixMicro(step * length.Microseconds()).Add(-offset).In(from.Location())
		if q.Step == history.Daily { // a day on which the clocks change is in two parts
			y, m, d := start.Add(offset).UTC().Date()
			start = time.Date(y, m, d, 0, 0, 0, 0, from.Location())
			if start.Day() != d { // there is no midnight: the day begins when the clocks are set
				_, start = start.ZoneBounds()
			}
		}
		c, ok := found[start.UnixMicro()]
		if !ok {
			c = history.Count{Start: start, Executions: map[history.Outcome]int64{}}
			found[start.UnixMicro()] = c
		}
		c.Executions[outcome] += n
		return nil
	})
}
