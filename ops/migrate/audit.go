package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/ops"
)

// audited is the operation that notes in the audit of one side what is done there, and that change.
func (m Move) audited(action ops.Action, detail string) (coord.Op, ops.Change, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return coord.Op{}, ops.Change{}, err
	}
	c := ops.Change{ID: id.String(), At: m.clock().UTC(), By: brief.Cut(m.By, maxText), From: brief.Cut(m.Where, maxText), Action: action, Detail: brief.Cut(detail, jobtree.MaxAuditDetail), Why: brief.Cut(m.Why, maxText)}
	return coord.Create(jobtree.Audit(c.ID), jobtree.EncodeAudit(jobtree.AuditDocument{
		At: c.At, By: c.By, From: c.From, Action: string(c.Action), Detail: c.Detail, Why: c.Why,
	})), c, nil
}

// maxText bounds what people say, in bytes.
const maxText = 255

// entries returns the audit of the source that goes, the oldest first: all, or if jobs were named
// what is about them.
func (m Move) entries(ctx context.Context) ([]coord.Node, error) {
	nodes, err := list(ctx, m.From.Registry, jobtree.Audits)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	slices.SortFunc(nodes, func(a, b coord.Node) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), strings.Compare(a.Path, b.Path))
	})
	return slices.DeleteFunc(nodes, func(n coord.Node) bool {
		if len(m.Jobs) == 0 {
			return false
		}
		d, err := jobtree.DecodeAudit(n.Value)
		return err != nil || !slices.Contains(m.Jobs, d.Job)
	}), nil
}

// tell writes the audit of the source at the target, as far as it has not been written. Entries count
// as written in that order, so the oldest come first.
func (r *run) tell(ctx context.Context) error {
	return patiently(ctx, func() error {
		entries, err := r.entries(ctx)
		if err != nil {
			return err
		}
		there, err := list(ctx, r.To.Registry, jobtree.Audits)
		if err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		isThere := map[string]bool{}
		for _, n := range there {
			isThere[n.Path] = true
		}
		w := writer{reg: r.To.Registry, guards: []coord.Op{r.atTarget()}}
		for _, n := range entries {
			if isThere[n.Path] {
				continue
			}
			if err := w.add(ctx, coord.Create(n.Path, n.Value)); err != nil {
				return fmt.Errorf("audit: %w", err)
			}
		}
		if err := w.flush(ctx); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		return nil
	})
}
