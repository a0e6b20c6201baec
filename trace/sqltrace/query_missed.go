package sqltrace

import (
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Missed counts ticks that were missed, by the hour or day in which that was noticed, at most 1000 of them. Hours and
// days without any are left out. It reads an event for each time that an item has missed ticks.
func (t *Tracer) Missed(ctx context.Context, q history.CountQuery) ([]history.Missed, error) {
	parts, err := partsOf(q)
	if err != nil {
		return nil, err
	}
	found := map[int64]history.Missed{}
	for _, p := range parts {
		if err := t.missedPart(ctx, q.Job, p, found); err != nil {
			return nil, err
		}
	}
	return byStart(found), nil
}

func (t *Tracer) missedPart(ctx context.Context, jobName string, p part, found map[int64]history.Missed) error {
	madeUp := kindName(jobtype.EventMadeUp)
	var w where
	w.equal("job_name", jobName)
	w.among("kind", madeUp, kindName(jobtype.EventSkipped))
	w.add("time_micros >= ?", p.from.UnixMicro())
	w.add("time_micros < ?", p.to.UnixMicro())
	query := fmt.Sprintf("SELECT %s, kind, COALESCE(what, ''), COALESCE(SUM(ticks), 0) FROM %s%s GROUP BY 1, 2, 3", p.number(t.dialect, "time_micros"), tableEvent, &w)
	return t.read(ctx, tableEvent, query, w.args, func(row scanner) error {
		var number, ticks int64
		var kind, reason string
		if err := row.Scan(&number, &kind, &reason, &ticks); err != nil {
			return err
		}
		start := p.start(number)
		m, ok := found[start.UnixMicro()]
		if !ok {
			m = history.Missed{Start: start, Skipped: map[string]int64{}}
		}
		if kind == madeUp {
			m.MadeUp += ticks
		} else {
			m.Skipped[reason] += ticks
		}
		found[start.UnixMicro()] = m
		return nil
	})
}
