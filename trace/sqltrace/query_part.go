package sqltrace

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// part is a part of the time in which something is counted, in which the distance to UTC stays the same.
type part struct {
	from, to       time.Time // in the zone of the query
	length, offset time.Duration
}

// partsOf returns the parts of the time of a query.
func partsOf(q history.CountQuery) (parts []part, err error) {
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
	for from := q.From.In(zone); from.Before(q.To); {
		_, to := from.ZoneBounds()
		if to.IsZero() || to.After(q.To) {
			to = q.To
		}
		_, seconds := from.Zone()
		parts = append(parts, part{from, to, length, time.Duration(seconds) * time.Second})
		from = to.In(zone)
	}
	return parts, nil
}

// number returns the expression for the number of an hour or day, of a column with a time in microseconds.
func (p part) number(d Dialect, column string) string {
	divide := "/"
	if d == MySQL {
		divide = "DIV"
	}
	return fmt.Sprintf("(%s + %d) %s %d", column, p.offset.Microseconds(), divide, p.length.Microseconds())
}

// start returns when the hour or day of a number begins.
func (p part) start(number int64) time.Time {
	zone := p.from.Location()
	start := time.UnixMicro(number * p.length.Microseconds()).Add(-p.offset).In(zone)
	if p.length == time.Hour {
		return start
	}
	// A day on which the clocks change is in two parts.
	y, m, d := start.Add(p.offset).UTC().Date()
	start = time.Date(y, m, d, 0, 0, 0, 0, zone)
	if start.Day() != d { // there is no midnight: the day begins when the clocks are set
		_, start = start.ZoneBounds()
	}
	return start
}
