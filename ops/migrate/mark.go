package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/ops"
)

// ErrNone: there is no migration to be aborted.
var ErrNone = errors.New("migrate: nothing is half done")

// errSame: the mark of the target is found at the source.
var errSame = fmt.Errorf("%w: source and target are the same", ErrRefused)

// Mark says in one of the two trees that a migration is half done, or that the source of one was kept.
type Mark struct {
	ID string `json:"id"`
	// IsSource is whether jobs leave this namespace; otherwise they come here.
	IsSource bool      `json:"isSource"`
	From     string    `json:"from,omitempty"`
	To       string    `json:"to,omitempty"`
	By       string    `json:"by,omitempty"`
	Why      string    `json:"why,omitempty"`
	At       time.Time `json:"at,omitzero"`
	// Jobs is how many are to move, Begun how many have begun, and Done how many of these have, seen from this side,
	// come to their end: they have left the source, or have arrived at the target.
	Jobs  int `json:"jobs"`
	Begun int `json:"begun"`
	Done  int `json:"done"`
	// IsKept is whether nothing is half done: all jobs have moved, and this source keeps what it has of them.
	IsKept bool `json:"kept,omitempty"`
	// Err says why nothing but the ID can be told.
	Err error `json:"-"`
}

// Marks returns the migrations that a namespace takes part in, the oldest first. It needs no more than one of the two sides.
//
// Errors: those of a read.
func Marks(ctx context.Context, reg coord.Registry) ([]Mark, error) {
	nodes, err := list(ctx, reg, jobtree.Migrations)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	marks := make([]Mark, 0, len(nodes))
	for _, n := range nodes {
		id := coord.Base(n.Path)
		d, err := jobtree.DecodeMigration(n.Value)
		if err != nil {
			marks = append(marks, Mark{ID: id, Err: err})
			continue
		}
		mark := Mark{ID: id, IsSource: d.IsSource, From: d.From, To: d.To, By: d.By, Why: d.Why, At: d.At, Jobs: d.Jobs, IsKept: d.IsKept}
		children, err := list(ctx, reg, n.Path)
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", brief.Text(id), err)
		}
		mark.Begun = len(children)
		for _, child := range children {
			if d, err := jobtree.DecodeMoving(child.Value); err == nil && (d.Step == jobtree.Left || d.Step == jobtree.Arrived || mark.IsKept) {
				mark.Done++
			}
		}
		marks = append(marks, mark)
	}
	slices.SortFunc(marks, func(a, b Mark) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return marks, nil
}

// find returns the id of the migration from the source to the target that is half done; "" if there
// is none. stale are the marks of migrations of the same kind that had ended but for that mark: the
// source is marked after the target, and its mark goes first. A mark without any job, on one side
// only, is one that has just begun.
func (m Move) find(ctx context.Context) (id string, stale []string, err error) {
	from, err := Marks(ctx, m.From.Registry)
	if err != nil {
		return "", nil, fmt.Errorf("source: %w", err)
	}
	to, err := Marks(ctx, m.To.Registry)
	if err != nil {
		return "", nil, fmt.Errorf("target: %w", err)
	}
	for _, mark := range from {
		switch {
		case mark.IsKept:
		case mark.Err != nil:
			return "", nil, fmt.Errorf("%w: source: %s: %w", ErrOther, jobtree.Migration(mark.ID), mark.Err)
		case !mark.IsSource:
			return "", nil, fmt.Errorf("%w: the source is the target of %s", ErrOther, mark)
		case mark.Begun == 0 && mark.To == m.To.Name:
			id = mark.ID
		case !slices.ContainsFunc(to, func(other Mark) bool { return other.ID == mark.ID && other.Err == nil && !other.IsSource }):
			return "", nil, fmt.Errorf("%w: %s; this target knows nothing of it", ErrOther, mark)
		default:
			id = mark.ID
		}
	}
	for _, mark := range to {
		switch {
		case mark.Err == nil && mark.IsSource && !mark.IsKept:
			return "", nil, fmt.Errorf("%w: the target is the source of %s", ErrOther, mark)
		case mark.Err != nil || mark.IsSource || mark.ID == id || mark.From != m.From.Name || mark.To != m.To.Name || mark.Done < mark.Begun:
		case mark.Begun == 0 && id == "":
			id = mark.ID
		default:
			stale = append(stale, mark.ID)
		}
	}
	return id, stale, nil
}

// String says what the mark is about, in one line.
func (m Mark) String() string {
	text := fmt.Sprintf("migration %s from %s to %s", brief.Text(m.ID), brief.Quote(m.From), brief.Quote(m.To))
	if m.By != "" {
		text += " by " + brief.Text(m.By)
	}
	if !m.At.IsZero() {
		text += " at " + m.At.Format(time.RFC3339)
	}
	return fmt.Sprintf("%s: %d of %d jobs are through", text, m.Done, m.Jobs)
}

// begin puts up the marks, that of the target first, or takes over those that are there.
func (m Move) begin(ctx context.Context, action ops.Action, p *Plan) (*run, error) {
	now, id := m.clock(), p.ID
	if id == "" {
		id = fmt.Sprintf("%s-%08x", now.UTC().Format("20060102t150405"), rand.Uint32())
	}
	d := jobtree.MigrationDocument{
		From: m.From.Name, To: m.To.Name, By: m.By, Why: m.Why, At: now, Jobs: len(p.Jobs), Runner: fmt.Sprintf("%016x", rand.Uint64()),
	}
	r := &run{Move: m, id: id, settler: settler{now}, bar: &bar{}}
	for _, id := range p.stale {
		version, _, err := m.takeUp(ctx, m.To.Registry, id, d, "")
		if err == nil {
			err = takeAway(ctx, m.To.Registry, id, version)
		}
		if err != nil {
			return nil, fmt.Errorf("target: %s: %w", jobtree.Migration(id), err)
		}
	}
	var err error
	if r.mark, r.token, err = m.takeUp(ctx, m.To.Registry, id, d, action); err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	d.IsSource = true
	if r.source, _, err = m.takeUp(ctx, m.From.Registry, id, d, action); errors.Is(err, errSame) {
		return nil, errors.Join(err, takeAway(ctx, m.To.Registry, id, r.mark))
	} else if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	return r, nil
}

// takeUp writes a mark, and returns its version and the revision of the commit. An action is noted in
// the audit, unless it goes on with the same migration.
func (m Move) takeUp(ctx context.Context, reg coord.Registry, id string, d jobtree.MigrationDocument, action ops.Action) (version, revision int64, err error) {
	detail := "from " + d.From
	if d.IsSource {
		detail = "to " + d.To
	}
	entry, change, err := m.audited(action, fmt.Sprintf("%s %s", id, detail))
	if err != nil {
		return 0, 0, err
	}
	path, isAudited := jobtree.Migration(id), false
	err = patiently(ctx, func() error {
		n, err := get(ctx, reg, path)
		if err != nil {
			return err
		}
		write, isNew := coord.Create(path, jobtree.EncodeMigration(d)), true
		if n.Created != 0 {
			there, err := jobtree.DecodeMigration(n.Value)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", path, err)
			case there.IsSource != d.IsSource:
				return errSame
			case there.Runner == d.Runner: // the answer was lost
				version, revision = n.Version, n.Modified
				return nil
			}
			next := d
			next.By, next.Why, next.At, next.Jobs = there.By, there.Why, there.At, max(there.Jobs, d.Jobs) // who began it
			write, isNew = coord.SetAt(path, jobtree.EncodeMigration(next), n.Version), false
		}
		commit := []coord.Op{write}
		if isAudited = action != "" && (isNew || action == ops.ActionAbortMigration); isAudited {
			commit = append(commit, entry)
		}
		if _, err := reg.Commit(ctx, commit...); err != nil {
			return err
		}
		if n, err = reg.Get(ctx, path); err != nil {
			return err
		}
		there, err := jobtree.DecodeMigration(n.Value)
		if err != nil || there.Runner != d.Runner {
			return ErrTakenOver
		}
		version, revision = n.Version, n.Modified
		return nil
	})
	if err == nil && isAudited && m.OnChange != nil {
		m.OnChange(change)
	}
	return version, revision, err
}

// begun returns the jobs that have begun to move, ascending.
func (r *run) begun(ctx context.Context) ([]jobtree.Job, error) {
	var names []jobtree.Job
	for _, reg := range []coord.Registry{r.From.Registry, r.To.Registry} {
		nodes, err := list(ctx, reg, jobtree.Migration(r.id))
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			names = append(names, jobtree.Job(coord.Base(n.Path)))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// end takes the marks away, that of the source first; or says there that the source is kept.
func (r *run) end(ctx context.Context) error {
	isKept, err := r.keeps(ctx)
	if err == nil && !isKept {
		err = takeAway(ctx, r.From.Registry, r.id, r.source)
	}
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if err := takeAway(ctx, r.To.Registry, r.id, r.mark); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	return nil
}

// keeps notes, if jobs of the source are kept, that it is so and nothing is half done.
func (r *run) keeps(ctx context.Context) (isKept bool, err error) {
	err = patiently(ctx, func() error {
		nodes, err := list(ctx, r.From.Registry, jobtree.Migration(r.id))
		if err != nil {
			return err
		}
		isKept = slices.ContainsFunc(nodes, func(n coord.Node) bool {
			d, err := jobtree.DecodeMoving(n.Value)
			return err == nil && d.Step == jobtree.Leaving
		})
		if !isKept {
			return nil
		}
		n, err := r.From.Registry.Get(ctx, jobtree.Migration(r.id))
		if err != nil {
			return err
		}
		d, err := jobtree.DecodeMigration(n.Value)
		if err != nil || d.IsKept {
			return err
		}
		if n.Version != r.source {
			return ErrTakenOver
		}
		d.IsKept = true
		_, err = r.From.Registry.Commit(ctx, coord.SetAt(n.Path, jobtree.EncodeMigration(d), n.Version))
		return err
	})
	return isKept, err
}

// takeAway removes a mark with all below it, in parts: a store removes only so many nodes at once.
func takeAway(ctx context.Context, reg coord.Registry, id string, version int64) error {
	path := jobtree.Migration(id)
	guard := coord.AtVersion(path, version)
	return patiently(ctx, func() error {
		nodes, err := list(ctx, reg, path)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(nodes, (coord.MaxOps-1)/coord.Cost(coord.DeleteTree(path))) {
			ops := []coord.Op{guard}
			for _, n := range some {
				ops = append(ops, coord.DeleteTree(n.Path))
			}
			if _, err := reg.Commit(ctx, ops...); err != nil {
				return gone(err)
			}
		}
		_, err = reg.Commit(ctx, guard, coord.DeleteTree(path))
		return gone(err)
	})
}

// gone is nil for the conflict of a commit whose mark is gone already: an answer was lost.
func gone(err error) error {
	if conflict, ok := errors.AsType[*coord.ConflictError](err); ok && conflict.Op.Kind == coord.OpAtVersion && errors.Is(conflict.Reason, coord.ErrNoNode) {
		return nil
	}
	return err
}
