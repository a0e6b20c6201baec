package migrate

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// shared is what of the namespace belongs to no job, and goes. It stays at the source, too.
type shared struct{ calendars, removals, audit []coord.Node }

// planShared finds what belongs to no job: calendars, the audit, and if all jobs move, notes of removed
// jobs. used are the calendars that the jobs name.
func (r *run) planShared(ctx context.Context, p *Plan, used map[string]bool) (err error) {
	if p.shared.audit, err = r.auditEntries(ctx); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	p.Audit = len(p.shared.audit)
	if err := r.planCalendars(ctx, p, used); err != nil || len(r.Jobs) > 0 {
		return err
	}
	notes, err := list(ctx, r.source, jobtree.Removals)
	if err != nil {
		return err
	}
	isMoving := map[string]bool{}
	for _, j := range p.Jobs {
		isMoving[j.Name] = true
	}
	for _, n := range notes {
		name := coord.Base(n.Path)
		d, err := jobtree.DecodeRemoval(n.Value)
		hasMoved := err == nil && d.Revision == jobtype.MaxRevision // by a migration before
		if jobtree.IsName(name) && !isMoving[name] && !hasMoved {
			p.shared.removals = append(p.shared.removals, n)
		}
	}
	p.Removed = len(p.shared.removals)
	return nil
}

func (r *run) planCalendars(ctx context.Context, p *Plan, used map[string]bool) error {
	calendars, err := list(ctx, r.source, jobtree.Calendars)
	if err != nil {
		return err
	}
	for _, n := range calendars {
		name := coord.Base(n.Path)
		if len(r.Jobs) > 0 && !used[name] {
			continue
		}
		if !jobtree.IsName(name) {
			p.find(Noted, "no calendar can have the name %s: it does not go", brief.Quote(name))
			continue
		}
		there, err := get(ctx, r.target, n.Path)
		switch {
		case err != nil:
			return err
		case there.Created == 0:
			p.shared.calendars, p.Calendars = append(p.shared.calendars, n), append(p.Calendars, name)
		case !bytes.Equal(there.Value, n.Value):
			p.find(Refused, "the target has another calendar %s", brief.Quote(name))
		}
	}
	return nil
}

// auditEntries returns the audit of the source, the oldest first: all, or if jobs were named what is about
// them.
func (r *run) auditEntries(ctx context.Context) ([]coord.Node, error) {
	nodes, err := list(ctx, r.source, jobtree.Audits)
	slices.SortFunc(nodes, func(a, b coord.Node) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), strings.Compare(a.Path, b.Path))
	})
	return slices.DeleteFunc(nodes, func(n coord.Node) bool {
		if len(r.Jobs) == 0 {
			return false
		}
		d, err := jobtree.DecodeAudit(n.Value)
		return err != nil || !slices.Contains(r.Jobs, d.Job)
	}), err
}

// copyShared writes at the target what belongs to no job. Entries of the audit count as written in this
// order, so the oldest come first, and the entry of the migration last.
func (r *run) copyShared(ctx context.Context, s shared) error {
	if err := r.copyMissing(ctx, jobtree.Audits, s.audit); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	err := r.record("from "+r.From.Name, func(entry coord.Op) error {
		_, err := r.target.Commit(ctx, r.target.held(), entry)
		return err
	})
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	for _, part := range []struct {
		what, parent string
		nodes        []coord.Node
	}{{"calendars", jobtree.Calendars, s.calendars}, {"removed jobs", jobtree.Removals, s.removals}} {
		if err := r.copyMissing(ctx, part.parent, part.nodes); err != nil {
			return fmt.Errorf("%s: %w", part.what, err)
		}
	}
	return nil
}

// copyMissing writes those of the nodes that the target does not have. A job that the target has was not
// removed there.
func (r *run) copyMissing(ctx context.Context, parent string, nodes []coord.Node) error {
	there, err := list(ctx, r.target, parent)
	if err != nil {
		return err
	}
	isThere := map[string]bool{}
	for _, n := range there {
		isThere[n.Path] = true
	}
	isOfJob := parent == jobtree.Removals
	if isOfJob {
		jobs, err := r.target.List(ctx, "")
		if err != nil {
			return err
		}
		for _, n := range jobs {
			isThere[jobtree.Job(n.Path).Removal()] = true
		}
	}
	w := writer{side: r.target}
	for _, n := range nodes {
		if isThere[n.Path] {
			continue
		}
		write := []coord.Op{coord.Create(n.Path, n.Value)}
		if isOfJob {
			write = append(write, coord.Absent(jobtree.Job(coord.Base(n.Path)).Config()))
		}
		if err := w.add(ctx, write...); err != nil {
			return err
		}
	}
	return w.flush(ctx)
}
