package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// ErrNoCursor: there is no cursor here. The context is not that of an execution, or
// MonitorExecution is off, so that no claim protects a cursor.
var ErrNoCursor = errors.New("job: no cursor")

// MaxCursor bounds the text of a cursor, in bytes.
const MaxCursor = 16 << 10

// ReadCursor is job.Cursor.
func ReadCursor(ctx context.Context) (string, error) {
	c := handleOf(ctx).cursor
	if c == nil {
		return "", ErrNoCursor
	}
	var position string
	err := c.retry(ctx, func() error {
		d, err := c.read(ctx)
		position = d.Position
		return err
	})
	return position, err
}

// MoveCursor is job.MoveCursor.
func MoveCursor(ctx context.Context, to string) error {
	c := handleOf(ctx).cursor
	switch {
	case c == nil:
		return ErrNoCursor
	case len(to) > MaxCursor:
		return fmt.Errorf("job %s: cursor of item %d: %d bytes, at most %d are allowed", c.Job, c.Item, len(to), MaxCursor)
	case !utf8.ValidString(to):
		return fmt.Errorf("job %s: cursor of item %d: only UTF-8 is allowed", c.Job, c.Item)
	}
	return c.move(ctx, to)
}

// Cursor is the cursor of an item in one execution. Several goroutines may use it.
type Cursor struct {
	Registry  coord.Registry
	Now       func() time.Time
	Job       jobtree.Job
	Item      int
	Token     int64
	CancelRun context.CancelCauseFunc // ends the execution's context

	mu     sync.Mutex
	number int // how many moves this execution has begun
}

func (c *Cursor) read(ctx context.Context) (jobtree.CursorDocument, error) {
	n, err := get(ctx, c.Registry, c.Job.Cursor(c.Item))
	if err != nil {
		return jobtree.CursorDocument{}, fmt.Errorf("job %s: cursor of item %d: %w", c.Job, c.Item, err)
	}
	d, err := jobtree.DecodeCursor(n.Value)
	if err != nil {
		return d, fmt.Errorf("job %s: %s: %w", c.Job, n.Path, err)
	}
	return d, nil
}

func (c *Cursor) move(ctx context.Context, to string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := jobtree.CursorDocument{Position: to, Token: c.Token, Number: c.number, Moved: c.Now()}
	c.number++
	value, err := jobtree.EncodeCursor(d)
	if err != nil {
		return err
	}
	return c.retry(ctx, func() error { return c.commit(ctx, d, value) })
}

// commit writes the cursor, if this execution's claim is still the item's last. The write has the version
// of the cursor as a condition, too: an earlier request, whose answer was lost, may be carried out at any
// time, and must not move the cursor back.
func (c *Cursor) commit(ctx context.Context, d jobtree.CursorDocument, value []byte) error {
	claim, err := get(ctx, c.Registry, c.Job.Fired(c.Item))
	if err != nil {
		return fmt.Errorf("job %s: claim of item %d: %w", c.Job, c.Item, err)
	}
	if claim.Modified != c.Token {
		return c.lost()
	}
	before, err := get(ctx, c.Registry, c.Job.Cursor(c.Item))
	if err != nil {
		return fmt.Errorf("job %s: cursor of item %d: %w", c.Job, c.Item, err)
	}
	write := coord.Create(c.Job.Cursor(c.Item), value)
	if before.Created != 0 {
		if there, err := jobtree.DecodeCursor(before.Value); err == nil && there.Token == d.Token && there.Number == d.Number {
			return nil // it was moved, and only the answer was lost
		}
		write = coord.SetAt(before.Path, value, before.Version)
	}
	_, err = c.Registry.Commit(ctx, coord.AtVersion(claim.Path, claim.Version), write)
	switch conflict, ok := errors.AsType[*coord.ConflictError](err); {
	case err == nil:
		return nil
	case ok && conflict.Op.Path == claim.Path:
		return c.lost()
	case ok: // such a request has just been carried out
		err = fmt.Errorf("%w: %w", coord.ErrUnavailable, err)
	}
	return fmt.Errorf("job %s: cursor of item %d: %w", c.Job, c.Item, err)
}

// lost ends the run's context and returns ErrItemLost: the item has another execution, and the scheduler
// may learn of that only later.
func (c *Cursor) lost() error {
	c.CancelRun(jobtype.ErrItemLost)
	return fmt.Errorf("job %s: cursor of item %d: %w", c.Job, c.Item, jobtype.ErrItemLost)
}

// retry tries again while the store is unavailable, until ctx ends.
func (c *Cursor) retry(ctx context.Context, do func() error) error {
	var backoff sleep.Backoff
	for {
		err := do()
		if !errors.Is(err, coord.ErrUnavailable) && !errors.Is(err, coord.ErrUnknownOutcome) {
			return err
		}
		if !backoff.Wait(ctx) {
			return errors.Join(context.Cause(ctx), err)
		}
	}
}

// get reads a node. One that is not there is the zero Node.
func get(ctx context.Context, reg coord.Registry, path string) (coord.Node, error) {
	n, err := reg.Get(ctx, path)
	if errors.Is(err, coord.ErrNoNode) {
		return coord.Node{}, nil
	}
	return n, err
}
