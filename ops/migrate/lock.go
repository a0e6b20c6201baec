package migrate

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/ops"
)

// side is one of the two namespaces, with what a run knows of its lock.
type side struct {
	coord.Registry
	id                string // of the namespace; empty if it had no migration yet
	version, revision int64  // of the lock, when this run took it
}

// held is the condition that no other run has taken the lock. Every commit of a migration has it.
func (s *side) held() coord.Op { return coord.AtVersion(jobtree.Migrations, s.version) }

// Commit returns ErrTakenOver if the lock was a condition, and another run has taken it.
func (s *side) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	revision, err := s.Registry.Commit(ctx, ops...)
	conflict, ok := errors.AsType[*coord.ConflictError](err)
	if ok && conflict.Op.Kind == coord.OpAtVersion && conflict.Op.Path == jobtree.Migrations {
		err = fmt.Errorf("%w: %w", ErrTakenOver, err)
	}
	return revision, err
}

// readLock reads the lock. If there is none the node is zero.
func (s *side) readLock(ctx context.Context) (coord.Node, error) {
	n, err := get(ctx, s, jobtree.Migrations)
	s.id = string(n.Value)
	return n, err
}

// lock takes the lock, in one commit with what else is to be written. Who has had it can commit nothing more.
func (s *side) lock(ctx context.Context, more ...coord.Op) error {
	n, err := s.readLock(ctx)
	if err != nil {
		return err
	}
	id := []byte(cmp.Or(s.id, rand.Text()))
	write := coord.SetAt(jobtree.Migrations, id, n.Version)
	if n.Created == 0 {
		write = coord.Create(jobtree.Migrations, id)
	}
	if s.revision, err = s.Commit(ctx, append([]coord.Op{write}, more...)...); err != nil {
		return err
	}
	if n, err = s.readLock(ctx); err != nil {
		return err
	}
	if s.version = n.Version; n.Modified != s.revision {
		return ErrTakenOver
	}
	return nil
}

// lockBoth takes the locks of both sides. The audit of the source gets its entry with the lock. That of the target gets it
// after the entries of the source, because an audit is in the order in which the store has created it: see copyShared.
func (r *run) lockBoth(ctx context.Context) error {
	err := r.record("to "+r.To.Name, func(entry coord.Op) error { return r.source.lock(ctx, entry) })
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if err := r.target.lock(ctx); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	r.setID()
	return nil
}

// readLocks reads both locks, for the id.
func (r *run) readLocks(ctx context.Context) error {
	for _, s := range []*side{r.source, r.target} {
		if _, err := s.readLock(ctx); err != nil {
			return err
		}
	}
	r.setID()
	return nil
}

// record has an entry of the audit written, and tells of it.
func (r *run) record(detail string, write func(coord.Op) error) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	action := ops.ActionMigrate
	if r.isAbort {
		action = ops.ActionAbortMigration
	}
	c := ops.Change{
		ID: id.String(), At: r.now.UTC(), By: brief.Cut(r.By, maxText), From: brief.Cut(r.Where, maxText), Action: action,
		Detail: brief.Cut(detail, jobtree.MaxAuditDetail), Why: brief.Cut(r.Why, maxText),
	}
	d := jobtree.AuditDocument{At: c.At, By: c.By, From: c.From, Action: string(c.Action), Detail: c.Detail, Why: c.Why}
	if err := write(coord.Create(jobtree.Audit(c.ID), jobtree.EncodeAudit(d))); err != nil {
		return err
	}
	r.entries = append(r.entries, c.ID)
	if r.OnChange != nil {
		r.OnChange(c)
	}
	return nil
}

// isLost reports whether another run has the lock that this one has had.
func (s *side) isLost(ctx context.Context) (bool, error) {
	n, err := get(ctx, s, jobtree.Migrations)
	return s.revision != 0 && n.Version != s.version, err
}

// takenOver returns why a run has ended. If another run has one of the locks, that is why, whatever this one has found
// in trees that change.
func (r *run) takenOver(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	for _, s := range []*side{r.source, r.target} {
		if isLost, _ := s.isLost(ctx); isLost { // what cannot be read does not tell
			err = ErrTakenOver
		}
	}
	if !errors.Is(err, ErrTakenOver) {
		return err
	}
	return r.byWhom(ctx)
}

// byWhom is an ErrTakenOver that says who is at work, if the audit of one of the sides tells: whoever has an entry that is
// newer than those of this run.
func (r *run) byWhom(ctx context.Context) error {
	for _, s := range []*side{r.source, r.target} {
		changes, _ := ops.New(s.Registry).Audit(ctx, ops.AuditQuery{}) // without it the error says less
		own := slices.IndexFunc(changes, func(c ops.Change) bool { return slices.Contains(r.entries, c.ID) })
		if len(r.entries) == 0 {
			own = len(changes)
		}
		for _, c := range changes[:max(own, 0)] {
			if c.Action == ops.ActionMigrate || c.Action == ops.ActionAbortMigration {
				return fmt.Errorf("%w: %s at %s, by %s", ErrTakenOver, brief.Text(string(c.Action)+" "+c.Detail), c.At.Format(time.RFC3339), brief.Quote(c.By))
			}
		}
	}
	return ErrTakenOver
}

// maxText bounds what people say, in bytes.
const maxText = 255

// setID sets the id that all migrations from this source to this target have; without one of the locks there
// was none.
func (r *run) setID() {
	if r.source.id != "" && r.target.id != "" {
		r.id = r.source.id + "-" + r.target.id
	}
}
