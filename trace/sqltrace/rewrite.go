package sqltrace

import (
	"context"
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// rewriting is a change of rows that an earlier version, or a JVM, has written. A row that is changed is no
// longer one of those to change, so that a migration that was cut short goes on where it was.
type rewriting struct {
	table string
	which string
	set   string
}

func toVersion2() []rewriting {
	foreign := make([]string, 0, 3)
	for s := jobtype.SourceNormal; s <= jobtype.SourceBackfill; s++ {
		if s.String() != executionSource(s) {
			foreign = append(foreign, "'"+s.String()+"'")
		}
	}
	return []rewriting{
		{
			table: tableExecution,
			which: columnSource + " IS NULL AND execution_source IN (" + strings.Join(foreign, ", ") + ")",
			// In this order: MySQL takes them one after the other, the others all at once.
			set: columnSource + " = execution_source, execution_source = '" + executionSource(jobtype.SourceManual) + "'",
		},
		// Of JVMs of 3.0.5. None of them has another source.
		{table: tableStatus, which: "source IS NULL", set: "source = '" + sourceLite + "'"},
	}
}

// rewrittenAtOnce bounds the rows of a statement.
const rewrittenAtOnce = 1000

// rewrite changes rows by their ids, a thousand at a time: MySQL would lock all rows that a statement reads to find
// those that it changes, and JVMs write meanwhile.
func (t *Tracer) rewrite(ctx context.Context, on querier, r rewriting) error {
	query := fmt.Sprintf("SELECT id FROM %s WHERE id > ? AND %s ORDER BY id LIMIT %d", r.table, r.which, rewrittenAtOnce)
	for last := ""; ; {
		var ids []any
		err := t.readOn(ctx, on, query, []any{last}, func(row scanner) error {
			err := row.Scan(&last)
			ids = append(ids, last)
			return err
		})
		if err != nil {
			return fmt.Errorf("look in %s for rows of an earlier version: %w", r.table, err)
		}
		if len(ids) == 0 {
			return nil
		}
		var w where
		w.among("id", ids...)
		w.add(r.which)
		if _, err := on.ExecContext(ctx, t.dialect.bind("UPDATE "+r.table+" SET "+r.set+w.String()), ids...); err != nil {
			return fmt.Errorf("rewrite %d rows of %s: %w", len(ids), r.table, err)
		}
	}
}
