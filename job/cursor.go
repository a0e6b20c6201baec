package job

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/rest"
)

// ErrNoCursor: there is no cursor here. The context is not that of an execution, or
// MonitorExecution is off, so that no claim protects a cursor.
var ErrNoCursor = errors.New("job: no cursor")

// MaxCursor bounds the text of a cursor, in bytes.
const MaxCursor = 16 << 10

// Cursor returns where the item was left off: what an execution of it, here or elsewhere, gave
// to [MoveCursor] last. It is empty if the cursor was never moved, or was moved to "". It is
// read from the store. ctx is the context that the handler was given, or one derived from it.
//
// The cursor stays between executions. It goes when the item does, because the job has fewer
// items then.
//
// Errors: ErrNoCursor; the cause of ctx; those of the registry.
func Cursor(ctx context.Context) (string, error) {
	c := insideOf(ctx).cursor
	if c == nil {
		return "", ErrNoCursor
	}
	var position string
	err := c.patiently(ctx, func() error {
		d, err := c.read(ctx)
		position = d.Position
		return err
	})
	return position, err
}

// MoveCursor keeps how far the handler has come with the item, for [Cursor]: UTF-8 of up to
// [MaxCursor] bytes. It is one commit, on condition that nobody else has claimed the item
// since: so an execution that has lost its item cannot move the cursor, whatever it was told,
// and an execution that begins later sees every move of an earlier one. While the store is
// away it is tried again, until ctx ends. ctx is as for Cursor.
//
// Errors: ErrItemLost if another execution of the item has begun, and then ctx ends; ErrNoCursor; the cause of
// ctx, and then it is not known whether the cursor was moved; those of the registry.
func MoveCursor(ctx context.Context, to string) error {
	c := insideOf(ctx).cursor
	switch {
	case c == nil:
		return ErrNoCursor
	case len(to) > MaxCursor:
		return fmt.Errorf("job %s: cursor of item %d: %d bytes, at most %d are allowed", c.job, c.item, len(to), MaxCursor)
	case !utf8.ValidString(to):
		return fmt.Errorf("job %s: cursor of item %d: only UTF-8 is allowed", c.job, c.item)
	}
	return c.move(ctx, to)
}

// cursor is the cursor of an item in one execution. Several goroutines may use it.
type cursor struct {
	reg   coord.Registry
	now   func() time.Time
	job   jobtree.Job
	item  int
	token int64
	lose  context.CancelCauseFunc // ends the execution's context

	mu     sync.Mutex
	number int // how many moves this execution has begun
}

func (c *cursor) read(ctx context.Context) (jobtree.CursorDocument, error) {
	n, err := get(ctx, c.reg, c.job.Cursor(c.item))
	if err != nil {
		return jobtree.CursorDocument{}, fmt.Errorf("job %s: cursor of item %d: %w", c.job, c.item, err)
	}
	d, err := jobtree.DecodeCursor(n.Value)
	if err != nil {
		return d, fmt.Errorf("job %s: %s: %w", c.job, n.Path, err)
	}
	return d, nil
}

func (c *cursor) move(ctx context.Context, to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := jobtree.CursorDocument{Position: to, Token: c.token, Number: c.number, Moved: c.now()}
	c.number++
	value, err := jobtree.EncodeCursor(d)
	if err != nil {
		return err
	}
	return c.patiently(ctx, func() error { return c.commit(ctx, d, value) })
}

// commit writes the cursor, if this execution's claim is still the item's last. The write is on
// condition of what the cursor was before, too: a request of before, whose answer was lost, may
// be carried out at any time, and must not put the cursor back.
func (c *cursor) commit(ctx context.Context, d jobtree.CursorDocument, value []byte) error {
	claim, err := get(ctx, c.reg, c.job.Fired(c.item))
	if err != nil {
		return fmt.Errorf("job %s: claim of item %d: %w", c.job, c.item, err)
	}
	if claim.Modified != c.token {
		return c.lost()
	}
	before, err := get(ctx, c.reg, c.job.Cursor(c.item))
	if err != nil {
		return fmt.Errorf("job %s: cursor of item %d: %w", c.job, c.item, err)
	}
	write := coord.Create(c.job.Cursor(c.item), value)
	if before.Created != 0 {
		if there, err := jobtree.DecodeCursor(before.Value); err == nil && there.Token == d.Token && there.Number == d.Number {
			return nil // it was moved, and only the answer was lost
		}
		write = coord.SetAt(before.Path, value, before.Version)
	}
	_, err = c.reg.Commit(ctx, coord.AtVersion(claim.Path, claim.Version), write)
	switch conflict, ok := errors.AsType[*coord.ConflictError](err); {
	case err == nil:
		return nil
	case ok && conflict.Op.Path == claim.Path:
		return c.lost()
	case ok: // such a request has just been carried out
		err = fmt.Errorf("%w: %w", coord.ErrUnavailable, err)
	}
	return fmt.Errorf("job %s: cursor of item %d: %w", c.job, c.item, err)
}

// lost ends the context: the item has another execution, and the scheduler may learn of that
// only later.
func (c *cursor) lost() error {
	c.lose(ErrItemLost)
	return fmt.Errorf("job %s: cursor of item %d: %w", c.job, c.item, ErrItemLost)
}

// patiently tries again while the store is away, until ctx ends.
func (c *cursor) patiently(ctx context.Context, do func() error) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := do()
		if !errors.Is(err, coord.ErrUnavailable) && !errors.Is(err, coord.ErrUnknownOutcome) {
			return err
		}
		if !rest.For(ctx, pause/2+rand.N(pause/2)) {
			return errors.Join(context.Cause(ctx), err)
		}
	}
}
