package declare

import (
	"context"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Export returns what the namespace has, for [jobfile.Declarations.Write]: some jobs with the calendars
// that they name; or, without names, all jobs and all calendars. A plan for what is written has
// nothing to do, but to adopt what belongs to no set. References in props stay references.
//
// What cannot be read is left out, and unread says why.
//
// Errors: ops.ErrNoJob for a name; those of a read.
func Export(ctx context.Context, o *ops.Ops, names []string, progress func(done, total int)) (all *jobfile.Declarations, unread []error, err error) {
	chosen := len(names) > 0
	if !chosen {
		if names, err = o.Names(ctx); err != nil {
			return nil, nil, fmt.Errorf("export: %w", err)
		}
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	jobs, err := readAll(ctx, o, names, progress)
	if err != nil {
		return nil, nil, fmt.Errorf("export: %w", err)
	}
	all = &jobfile.Declarations{}
	named := map[string]bool{}
	for i, j := range jobs {
		switch {
		case !j.isThere && chosen:
			return nil, nil, fmt.Errorf("export: job %s: %w", names[i], ops.ErrNoJob)
		case !j.isThere: // it was removed meanwhile, or is a rest of one
		case j.unread != nil:
			unread = append(unread, j.unread)
		case j.settings.Implementation == "":
			unread = append(unread, fmt.Errorf("job %s: the registry does not say what does the work", names[i]))
		default:
			all.Jobs = append(all.Jobs, jobfile.InRegistry(j.settings.Config, j.settings.Implementation))
			for _, name := range j.settings.Config.Calendars {
				named[name] = true
			}
		}
	}
	calendars, err := o.Calendars(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("export: %w", err)
	}
	for _, c := range calendars {
		switch {
		case chosen && !named[c.Name]:
		case c.Err != nil:
			unread = append(unread, fmt.Errorf("calendar %s: %w", c.Name, c.Err))
		default:
			all.Calendars = append(all.Calendars, jobfile.Calendar{Name: c.Name, Document: string(c.Document)})
		}
	}
	return all, unread, nil
}
