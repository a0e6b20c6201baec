package sqltrace

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// How many executions have ended is counted when they are written, because to count a million
// rows takes longer than whoever looks at a console waits.
const tableCount = "ELASTICJOB_COUNT"

// slot is the time in which executions begin that are counted together. The days and the hours
// of every zone of today begin at the beginning of one.
const slot = 15 * time.Minute

func countTable() table {
	return table{
		name: tableCount,
		columns: []column{
			{name: "job_name", size: maxJobName, required: true}, // empty is all jobs
			{name: "slot_micros", kind: kindBigint, required: true},
			{name: "outcome", size: 20, required: true},
			{name: "executions", kind: kindBigint, required: true},
		},
		key:     []string{"job_name", "slot_micros", "outcome"},
		indexes: []index{{name: "EJ_COUNT_TIME", columns: "slot_micros"}},
		since:   "slot_micros",
	}
}

// counted is what is counted together.
type counted struct {
	job     string // empty is all jobs
	slot    int64  // its beginning, in microseconds
	outcome string
}

// counts are changes of the table, by what is counted.
type counts map[counted]int64

// add counts an execution that began at start, n times.
func (c counts) add(job string, start int64, outcome string, n int64) {
	length := slot.Microseconds()
	begin := start - ((start%length)+length)%length
	c[counted{job, begin, outcome}] += n
	c[counted{"", begin, outcome}] += n
}

// ended returns what the executions of a batch change. It looks at what is there before they
// are written, because a batch may come twice, and a run that was lost may end after all.
func (t *Tracer) ended(ctx context.Context, tx querier, executions []row) (counts, error) {
	of := executionTable()
	id, name, start, outcome := of.position("id"), of.position("job_name"), of.position("start_micros"), of.position("outcome")
	changes := counts{}
	ends := map[string]row{}
	for _, x := range executions {
		if _, ok := x[start].(int64); ok && x[outcome] != nil {
			ends[x[id].(string)] = x
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(ends)), most) {
		var w where
		w.among("id", anys(ids)...)
		query := "SELECT id, COALESCE(outcome, ''), start_micros FROM " + tableExecution + w.String()
		if t.dialect == PostgreSQL {
			query += " FOR UPDATE" // another process may declare a run lost meanwhile; MySQL would lock more than these rows
		}
		err := t.readOn(ctx, tx, query, w.args, func(r scanner) error {
			var key, was string
			var began *int64
			if err := r.Scan(&key, &was, &began); err != nil {
				return err
			}
			x := ends[key]
			if began != nil { // the first start stays
				x = slices.Clone(x)
				x[start] = *began
				ends[key] = x
			}
			if was != "" {
				changes.add(x[name].(string), x[start].(int64), was, -1)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("look for what is counted already: %w", err)
		}
	}
	for _, x := range ends {
		changes.add(x[name].(string), x[start].(int64), x[outcome].(string), 1)
	}
	return changes, nil
}

// count changes the table. It is the last thing that a transaction does, and all do it in the
// same order, with the rows of all jobs at the end: others that count the same wait until it
// has ended.
func (t *Tracer) count(ctx context.Context, tx querier, changes counts) error {
	maps.DeleteFunc(changes, func(_ counted, n int64) bool { return n == 0 })
	keys := slices.SortedFunc(maps.Keys(changes), func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.job, a.job), cmp.Compare(a.slot, b.slot), cmp.Compare(a.outcome, b.outcome))
	})
	for chunk := range slices.Chunk(keys, most) {
		var args []any
		for _, k := range chunk {
			args = append(args, k.job, k.slot, k.outcome, changes[k])
		}
		statement := "INSERT INTO " + tableCount + " (job_name, slot_micros, outcome, executions) VALUES (?, ?, ?, ?)" +
			strings.Repeat(", (?, ?, ?, ?)", len(chunk)-1)
		if t.dialect == MySQL {
			statement += " ON DUPLICATE KEY UPDATE executions = executions + VALUES(executions)"
		} else {
			statement += " ON CONFLICT (job_name, slot_micros, outcome) DO UPDATE SET executions = " + tableCount + ".executions + excluded.executions"
		}
		if _, err := tx.ExecContext(ctx, t.dialect.bind(statement), args...); err != nil {
			return fmt.Errorf("count in %s: %w", tableCount, err)
		}
	}
	return nil
}
