package sqltrace

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// readBound is how long a query may take, if its context allows more.
const readBound = 30 * time.Second

var _ history.Reader = (*Tracer)(nil)

// placed is a row with its place in the pages of its table.
type placed[T any] struct {
	row   T
	place history.Cursor
}

func rowsOf[T any](list []placed[T]) []T {
	var rows []T
	for _, p := range list {
		rows = append(rows, p.row)
	}
	return rows
}

// cursorAt returns the place behind a row: its time in microseconds and its id.
func cursorAt(micros int64, id string) history.Cursor {
	return history.Cursor(strconv.FormatInt(micros, 10) + "_" + id)
}

func placeOf(c history.Cursor) (micros int64, id string, err error) {
	at, id, ok := strings.Cut(string(c), "_")
	micros, err = strconv.ParseInt(at, 10, 64)
	if !ok || err != nil || id == "" || len(id) > maxID*4 {
		return 0, "", fmt.Errorf("%w: cursor %.60q: what Page.Next has returned is allowed", history.ErrQuery, string(c))
	}
	return micros, id, nil
}

func checkLimit(limit int) (int, error) {
	switch {
	case limit == 0:
		return history.DefaultLimit, nil
	case limit < 0 || limit > history.MaxLimit:
		return 0, fmt.Errorf("%w: limit %d: 1 to %d, or 0 for %d, are allowed", history.ErrQuery, limit, history.MaxLimit, history.DefaultLimit)
	}
	return limit, nil
}

// where is what a row has to be like.
type where struct {
	conditions []string
	args       []any
}

func (w *where) add(condition string, args ...any) {
	w.conditions = append(w.conditions, condition)
	w.args = append(w.args, args...)
}

// equal adds a condition if the value is given.
func (w *where) equal(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}

// among adds that a column, or an expression, has one of the values.
func (w *where) among(column string, values ...any) {
	w.add(column+" IN (?"+strings.Repeat(", ?", len(values)-1)+")", values...)
}

func (w *where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}

// key is what rows are paged by: a time, and the id where times are equal.
type key struct {
	column string
	kind   kind // of the column: kindTime or kindBigint
}

func (k key) value(d Dialect, at time.Time) any {
	if k.kind == kindTime {
		return d.moment(at)
	}
	return inYears(at).UnixMicro()
}

// within adds the bounds of the time, which may be open, and the place where the page begins.
// A row without a time is in no page. What is compared is the time as the database has it: on
// MySQL in whole seconds.
func (k key) within(d Dialect, w *where, from, to time.Time, after history.Cursor) error {
	if !from.IsZero() && !to.IsZero() && !from.Before(to) {
		return fmt.Errorf("%w: from %v to %v: nothing is in between", history.ErrQuery, from, to)
	}
	if !from.IsZero() {
		w.add(k.column+" >= ?", k.value(d, from))
	}
	if !to.IsZero() {
		w.add(k.column+" < ?", k.value(d, to))
	}
	if after == "" {
		w.add(k.column + " IS NOT NULL")
		return nil
	}
	micros, id, err := placeOf(after)
	if err != nil {
		return err
	}
	at := k.value(d, time.UnixMicro(micros))
	// The first condition is the one that an index is of use for.
	w.add(k.column+" <= ?", at)
	w.add("("+k.column+" < ? OR id < ?)", at, id)
	return nil
}

// newestFirst orders by the key, and by nothing else: with a column before it that has one
// value only, MariaDB no longer sees that the rows come out of an index in their order.
func (k key) newestFirst() string { return " ORDER BY " + k.column + " DESC, id DESC" }

// page cuts what was read: one row more than the limit says that there is another page.
func page[T any](list []placed[T], limit int) history.Page[T] {
	if len(list) <= limit {
		return history.Page[T]{Rows: rowsOf(list)}
	}
	list = list[:limit]
	return history.Page[T]{Rows: rowsOf(list), Next: list[limit-1].place}
}

// read runs a query on a table and scans its rows.
func (t *Tracer) read(ctx context.Context, table, query string, args []any, scan func(scanner) error) error {
	return t.reading(ctx, table, func(ctx context.Context, on querier) error { return t.readOn(ctx, on, query, args, scan) })
}

// reading runs queries on a table, on one connection.
func (t *Tracer) reading(ctx context.Context, table string, do func(context.Context, querier) error) error {
	ctx, cancel := context.WithTimeout(ctx, readBound)
	defer cancel()
	err := t.ready(ctx)
	if err == nil {
		err = t.connect(ctx, func(conn *sql.Conn) error { return do(ctx, conn) })
	}
	if err != nil {
		return fmt.Errorf("sqltrace: %v: read %s: %w", t.dialect, table, err)
	}
	return nil
}

func (t *Tracer) readOn(ctx context.Context, on querier, query string, args []any, scan func(scanner) error) error {
	args = slices.Clone(args)
	for i, arg := range args { // as they are written; PostgreSQL would refuse the rest
		switch arg := arg.(type) {
		case string:
			args[i] = valid(arg)
		case history.Outcome:
			args[i] = valid(string(arg))
		case int:
			args[i] = inRange(arg)
		}
	}
	rows, err := on.QueryContext(ctx, t.dialect.bind(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scanner is a row that was read.
type scanner interface{ Scan(into ...any) error }

// micros returns the expression for a time in microseconds since 1970, whatever the zone of the
// session and what the driver makes of times. It is 0 for NULL.
func (d Dialect) micros(column string) string {
	switch d {
	case MySQL:
		return "COALESCE(CAST(UNIX_TIMESTAMP(" + column + ") * 1000000 AS SIGNED), 0)"
	case PostgreSQL:
		return "COALESCE(CAST(EXTRACT(EPOCH FROM " + column + ") * 1000000 AS BIGINT), 0)"
	}
	// SQLite rounds fractions to a thousandth, and up to the next second. Here a time is the text
	// that moment makes.
	return "COALESCE(unixepoch(substr(" + column + ", 1, 19)) * 1000000 + CAST(substr(" + column + ", 21, 6) AS INTEGER), 0)"
}

// timeOf returns a time that was read; 0 is none.
func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
