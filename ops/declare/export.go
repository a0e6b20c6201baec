package declare

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Export returns what the namespace has, for [jobfile.Declarations.Write]: some jobs with the calendars
// that they name; or, without names, all jobs and all calendars. A plan for what is written has
// nothing to do, but to adopt what belongs to no set. References in props stay references. A document
// of ElasticJob 3.0 or elastic-job 2.1 is written with the keys of files.
//
// What cannot be read is left out, and unread says why. With ErrNoSuchKey a job is there, without the keys of its document
// that files do not have.
//
// Errors: ops.ErrNoJob for a name; those of a read.
func Export(ctx context.Context, o *ops.Ops, names []string, progress func(done, total int)) (all *jobfile.Declarations, unread []error, err error) {
	chosen := len(names) > 0
	var jobs []ops.Settings
	if chosen {
		jobs, err = settingsOf(ctx, o, slices.Compact(slices.Sorted(slices.Values(names))), progress)
	} else {
		jobs, err = collect(o.AllSettings(ctx), progress)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("export: %w", err)
	}
	all = &jobfile.Declarations{}
	named := map[string]bool{}
	for _, s := range jobs {
		work := Work(s)
		switch {
		case s.Err != nil:
			unread = append(unread, fmt.Errorf("job %s: %w", s.Job, s.Err))
		case work == "":
			unread = append(unread, fmt.Errorf("job %s: the registry does not say what does the work", s.Job))
		default:
			all.Jobs = append(all.Jobs, jobfile.InRegistry(s.Config, work))
			if keys := keysLost(s.Document); !keys.Empty() {
				unread = append(unread, fmt.Errorf("job %s: %v: %w", s.Job, keys, ErrNoSuchKey))
			}
			for _, name := range s.Config.Calendars {
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

// keysLost are the keys of a document that a file of the job does not have.
func keysLost(document []byte) *brief.List {
	list := &brief.List{}
	unknown, _ := jobtype.UnknownKeys(document) // it could be read
	for _, key := range append(jobconf.Extensions(document), unknown...) {
		list.Add(key)
	}
	return list
}

// settingsOf reads the settings of some jobs, which have to be there.
func settingsOf(ctx context.Context, o *ops.Ops, names []string, progress func(done, total int)) ([]ops.Settings, error) {
	list, err := readAll(ctx, o, names, progress)
	if err != nil {
		return nil, err
	}
	settings := make([]ops.Settings, len(list))
	for i, s := range list {
		if !s.isThere {
			return nil, fmt.Errorf("job %s: %w", names[i], ops.ErrNoJob)
		}
		settings[i] = s.settings
	}
	return settings, nil
}

// Work returns what does the work of a job: in a namespace of elastic-job 2.1 the document alone says so.
func Work(s ops.Settings) string { return cmp.Or(s.Implementation, jobconf.OldWork(s.Document)) }
