package sqltrace

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/trace"
)

// Write keeps a batch in one transaction. An error means that it may not be there, and that
// the same batch is to be given again later. What the database refuses to take is dropped,
// counted in Stats and said in the log; the rest of the batch is kept.
func (t *Tracer) Write(ctx context.Context, b trace.Batch) error {
	if err := t.write(ctx, b); err != nil {
		return fmt.Errorf("sqltrace: %v: %w", t.dialect, err)
	}
	return nil
}

func (t *Tracer) write(ctx context.Context, b trace.Batch) error {
	if err := t.ready(ctx); err != nil {
		return err
	}
	err := t.save(ctx, b, false)
	if t.dialect.trouble(err) == troubleSchema {
		// Somebody has dropped a table, or a column.
		t.forget()
		if err := t.ready(ctx); err != nil {
			return err
		}
		err = t.save(ctx, b, false)
	}
	if t.dialect.trouble(err) == troubleRow {
		return t.saveParts(ctx, b, err)
	}
	return err
}

// saveParts keeps what it can of a batch that the database has refused with the error because.
func (t *Tracer) saveParts(ctx context.Context, b trace.Batch, because error) error {
	if size(b) == 1 {
		err := t.save(ctx, b, true) // the character set of a JVM's table may be a small one
		switch {
		case t.dialect.trouble(err) == troubleRow:
			t.refuse(b, because)
			return nil
		case err == nil:
			t.garble(b, because)
		}
		return err
	}
	for _, part := range halves(b) {
		err := t.save(ctx, part, false)
		if t.dialect.trouble(err) == troubleRow {
			err = t.saveParts(ctx, part, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tracer) refuse(b trace.Batch, because error) {
	t.note(func(s *Stats) { s.Refused, s.LastRefusal = s.Refused+1, because })
	if t.sayNow("refused") {
		t.log.Error("the database refuses a row of the history; it is dropped", about(b, because, t.Stats().Refused)...)
	}
}

// garble tells that a row was kept with ? in its texts.
func (t *Tracer) garble(b trace.Batch, because error) {
	t.note(func(s *Stats) { s.Garbled, s.LastGarbling = s.Garbled+1, because })
	if t.sayNow("garbled") {
		attributes := append(about(b, because, t.Stats().Garbled), slog.String("remedy", t.dialect.remedy("…")))
		t.log.Error("a row of the history is kept with ? for the characters that its table cannot have", attributes...)
	}
}

// about returns what the log says of a row.
func about(b trace.Batch, because error, soFar int64) []any {
	attributes := []any{slog.Any("error", brief.Error(because)), slog.Int64("so far", soFar)}
	for _, e := range b.Events {
		attributes = append(attributes, slog.String("job", e.Job), slog.String("event", e.ID))
	}
	for _, l := range b.Lines {
		attributes = append(attributes, slog.String("job", l.Job), slog.String("task", l.TaskID), slog.Int("line", l.Number))
	}
	return attributes
}

func size(b trace.Batch) int { return len(b.Events) + len(b.Lines) }

// halves cuts a batch of two or more in two.
func halves(b trace.Batch) [2]trace.Batch {
	switch e, l := len(b.Events), len(b.Lines); {
	case l == 0:
		return [2]trace.Batch{{Events: b.Events[:e/2]}, {Events: b.Events[e/2:]}}
	case e == 0:
		return [2]trace.Batch{{Lines: b.Lines[:l/2]}, {Lines: b.Lines[l/2:]}}
	}
	return [2]trace.Batch{{Events: b.Events}, {Lines: b.Lines}}
}

// save writes a batch in one transaction.
func (t *Tracer) save(ctx context.Context, b trace.Batch, ascii bool) error {
	m := maker{t.dialect, t.o.Hostname, ascii}
	r := m.rows(b)
	err := t.transact(ctx, func(tx querier) error {
		if err := t.byIndex(ctx, tx); err != nil {
			return err
		}
		counts, err := t.ended(ctx, tx, r.executions)
		if err != nil {
			return err
		}
		if err := t.insert(ctx, tx, executionTable(), r.executions); err != nil {
			return err
		}
		for _, e := range r.recovered {
			lost, err := t.lose(ctx, tx, m, e, counts)
			if err != nil {
				return err
			}
			r.statuses = append(r.statuses, lost...)
		}
		if err := t.insert(ctx, tx, statusTable(), r.statuses); err != nil {
			return err
		}
		if err := t.insert(ctx, tx, eventTable(), r.events); err != nil {
			return err
		}
		if err := t.insert(ctx, tx, lineTable(), r.lines); err != nil {
			return err
		}
		return t.count(ctx, tx, counts)
	})
	if err == nil {
		t.note(func(s *Stats) { s.Written += int64(size(b)) })
	}
	return err
}

// byIndex has a transaction look for rows by their keys. PostgreSQL takes a table that was empty
// a minute ago for a small one, and would read all of it.
func (t *Tracer) byIndex(ctx context.Context, tx querier) error {
	if t.dialect != PostgreSQL {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "SET LOCAL enable_seqscan = off"); err != nil {
		return fmt.Errorf("forbid to read whole tables: %w", err)
	}
	return nil
}

// most bounds the rows of a statement, so that it has fewer arguments than SQLite's 32,766.
const most = 256

// insert writes rows by statements of 256, 128, 64 … rows. So drivers that keep prepared
// statements have few of them to keep.
func (t *Tracer) insert(ctx context.Context, tx querier, to table, list []row) error {
	for n := most; len(list) > 0; n /= 2 {
		for len(list) >= n {
			args := make([]any, 0, n*len(to.columns))
			for _, r := range list[:n] {
				for _, value := range r {
					if number, ok := value.(int); ok {
						value = inRange(number)
					}
					args = append(args, value)
				}
			}
			if _, err := tx.ExecContext(ctx, t.dialect.insert(to, n), args...); err != nil {
				return fmt.Errorf("write %d rows of %s: %w", n, to.name, err)
			}
			list = list[n:]
		}
	}
	return nil
}
