package sqltrace

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

var eventKey = key{"time_micros", kindBigint}

// Events returns what has happened beside executions, newest first: the kinds that the package
// comment names for its table. A page is found in an index if f has a Job, one
// kind, or nothing.
func (t *Tracer) Events(ctx context.Context, f history.EventFilter) (history.Page[trace.Event], error) {
	limit, err := checkLimit(f.Limit)
	if err != nil {
		return history.Page[trace.Event]{}, err
	}
	var w where
	w.equal("job_name", f.Job)
	w.equal("instance", f.Instance)
	w.equal("actor", f.By)
	w.equal("what", f.What)
	if len(f.Kinds) > history.MaxLimit {
		return history.Page[trace.Event]{}, fmt.Errorf("%w: %d kinds: %d are allowed", history.ErrQuery, len(f.Kinds), history.MaxLimit)
	}
	if len(f.Kinds) > 0 {
		var kinds []any
		for _, k := range f.Kinds {
			if kindOf(kindName(k)) != k {
				return history.Page[trace.Event]{}, fmt.Errorf("%w: there is no kind %d of events", history.ErrQuery, int(k))
			}
			kinds = append(kinds, kindName(k))
		}
		w.among("kind", kinds...)
	}
	if err := eventKey.within(t.dialect, &w, f.From, f.To, f.After); err != nil {
		return history.Page[trace.Event]{}, err
	}
	over := "is_over <> 0"
	if t.dialect == PostgreSQL {
		over = "is_over"
	}
	query := fmt.Sprintf(`SELECT id, time_micros, kind, job_name, COALESCE(instance, ''), COALESCE(from_instance, ''), COALESCE(task_id, ''),
		COALESCE(sharding_item, 0), COALESCE(items, ''), COALESCE(scheduled_micros, 0), COALESCE(ticks, 0),
		COALESCE(request_id, ''), COALESCE(token, 0), COALESCE(what, ''),
		COALESCE(actor, ''), COALESCE(reason, ''), %s, COALESCE(detail, ''),
		COALESCE(text_before, ''), COALESCE(text_after, '') FROM %s%s%s LIMIT %d`,
		over, tableEvent, &w, eventKey.newestFirst(), limit+1)
	var list []placed[trace.Event]
	err = t.read(ctx, tableEvent, query, w.args, func(row scanner) error {
		var e trace.Event
		var at, scheduled int64
		var kind, items string
		err := row.Scan(&e.ID, &at, &kind, &e.Job, &e.Instance, &e.From, &e.Execution.TaskID, &e.Execution.Item, &items, &scheduled,
			&e.Ticks, &e.Execution.RequestID, &e.Execution.Token, &e.What, &e.By, &e.Why, &e.Over, &e.Error,
			&e.Before, &e.After)
		e.Time, e.Kind, e.Items, e.Execution.ScheduledTime = timeOf(at), kindOf(kind), itemsOf(items), timeOf(scheduled)
		switch e.Kind {
		case jobtype.EventConfigured, jobtype.EventCommanded, jobtype.EventOperated: // which have no error
			e.Detail, e.Error = e.Error, ""
		}
		list = append(list, placed[trace.Event]{e, cursorAt(at, e.ID)})
		return err
	})
	if err != nil {
		return history.Page[trace.Event]{}, err
	}
	return page(list, limit), nil
}

// kindOf returns the kind of that name; 0 if a later version has written it.
func kindOf(name string) jobtype.EventKind {
	for k := jobtype.EventClaimed; k <= jobtype.EventOperated; k++ {
		if kindName(k) == name {
			return k
		}
	}
	return 0
}

// itemsOf reads a list of items. Those that were too many to be written are not in it.
func itemsOf(list string) []int {
	var items []int
	for text := range strings.SplitSeq(strings.Trim(list, "[]"), ", ") {
		if item, err := strconv.Atoi(text); err == nil {
			items = append(items, item)
		}
	}
	return items
}
