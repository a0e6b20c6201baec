package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// planShared finds what of the namespace belongs to no job, and goes: calendars, and if all jobs move,
// notes of removed jobs.
func (r *run) planShared(ctx context.Context, p *Plan, used map[string]bool) error {
	entries, err := r.entries(ctx)
	if err != nil {
		return err
	}
	p.Audit = len(entries)
	calendars, err := list(ctx, r.From.Registry, jobtree.Calendars)
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
		there, err := get(ctx, r.To.Registry, n.Path)
		switch {
		case err != nil:
			return err
		case there.Created != 0 && !bytes.Equal(there.Value, n.Value):
			p.find(Refused, "the target has another calendar %s", brief.Quote(name))
		case there.Created == 0:
			p.calendars, p.Calendars = append(p.calendars, n), append(p.Calendars, name)
		}
	}
	if len(r.Jobs) > 0 {
		return nil
	}
	notes, err := list(ctx, r.From.Registry, jobtree.Removals)
	if err != nil {
		return err
	}
	moving := map[string]bool{}
	for _, j := range p.Jobs {
		moving[j.Name] = true
	}
	for _, n := range notes {
		if name := coord.Base(n.Path); jobtree.IsName(name) && !moving[name] {
			p.removed = append(p.removed, n)
		}
	}
	p.Removed = len(p.removed)
	return nil
}

// shared writes at the target what belongs to no job. It stays at the source.
func (r *run) shared(ctx context.Context, p *Plan) error {
	if err := r.tell(ctx); err != nil {
		return err
	}
	for _, n := range p.calendars {
		if err := r.writeOnce(ctx, n); err != nil {
			return fmt.Errorf("calendar %s: %w", brief.Text(coord.Base(n.Path)), err)
		}
	}
	byName := map[jobtree.Job]coord.Node{}
	var names []jobtree.Job
	for _, n := range p.removed {
		name := jobtree.Job(coord.Base(n.Path))
		byName[name], names = n, append(names, name)
	}
	_, err := r.each(ctx, parallel, names, func(ctx context.Context, name jobtree.Job) (bool, error) {
		// If the target has the job it was not removed there.
		return true, r.writeOnce(ctx, byName[name], coord.Absent(name.Config()))
	})
	return err
}

// writeOnce writes a node at the target, unless there is one, or what has to be absent is there.
func (r *run) writeOnce(ctx context.Context, n coord.Node, unless ...coord.Op) error {
	return patiently(ctx, func() error {
		_, err := r.To.Registry.Commit(ctx, append(unless[:len(unless):len(unless)], r.atTarget(), coord.Create(n.Path, n.Value))...)
		if errors.Is(err, coord.ErrNodeExists) {
			return nil
		}
		return err
	})
}
