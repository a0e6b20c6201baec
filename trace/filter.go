package trace

import (
	"fmt"
	"path"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
)

// Filter chooses jobs by their names. The zero Filter has all jobs.
type Filter struct{ include, exclude []string }

// NewFilter returns a filter that has the jobs whose names match one of include, or all but
// those that match one of exclude: one of the two may be given. A pattern is that of
// [path.Match]: billing-*, say; * stands for any text.
func NewFilter(include, exclude []string) (Filter, error) {
	if len(include) > 0 && len(exclude) > 0 {
		return Filter{}, fmt.Errorf("trace: filter: include and exclude are given; one of them is allowed")
	}
	for _, pattern := range slices.Concat(include, exclude) {
		if _, err := path.Match(pattern, ""); err != nil {
			return Filter{}, fmt.Errorf("trace: filter: pattern %s: %w; allowed are texts with *, ? and [a-z]", brief.Quote(pattern), err)
		}
	}
	return Filter{slices.Clone(include), slices.Clone(exclude)}, nil
}

// Has reports whether the filter has a job.
func (f Filter) Has(name string) bool {
	is := func(pattern string) bool { return matches(pattern, name) }
	if len(f.include) > 0 {
		return slices.ContainsFunc(f.include, is)
	}
	return !slices.ContainsFunc(f.exclude, is)
}

// matches reports whether a name matches a pattern. The patterns were checked.
func matches(pattern, name string) bool {
	is, err := path.Match(pattern, name)
	return err == nil && is
}

// Only returns an observer that is told of the jobs of a filter.
func Only(f Filter, o job.Observer) job.Observer {
	return job.Observer{
		Joined:       only(f, o.Joined, func(e job.JoinedEvent) job.Event { return e.Event }),
		Left:         only(f, o.Left, func(e job.LeftEvent) job.Event { return e.Event }),
		Session:      only(f, o.Session, func(e job.SessionEvent) job.Event { return e.Event }),
		Leads:        only(f, o.Leads, func(e job.LeadsEvent) job.Event { return e.Event }),
		ItemsChanged: only(f, o.ItemsChanged, func(e job.ItemsChangedEvent) job.Event { return e.Event }),
		Configured:   only(f, o.Configured, func(e job.ConfiguredEvent) job.Event { return e.Event }),
		Paused:       only(f, o.Paused, func(e job.PausedEvent) job.Event { return e.Event }),
		Commanded:    only(f, o.Commanded, func(e job.CommandedEvent) job.Event { return e.Event }),
		Due:          only(f, o.Due, func(e job.DueEvent) job.Event { return e.Event }),
		Claimed:      only(f, o.Claimed, func(e job.ClaimedEvent) job.Event { return e.Event }),
		HandedBack:   only(f, o.HandedBack, func(e job.HandedBackEvent) job.Event { return e.Event }),
		Started:      only(f, o.Started, func(e job.StartedEvent) job.Event { return e.Event }),
		Retried:      only(f, o.Retried, func(e job.RetriedEvent) job.Event { return e.Event }),
		Finished:     only(f, o.Finished, func(e job.FinishedEvent) job.Event { return e.Event }),
		MadeUp:       only(f, o.MadeUp, func(e job.MadeUpEvent) job.Event { return e.Event }),
		PassedOver:   only(f, o.PassedOver, func(e job.PassedOverEvent) job.Event { return e.Event }),
		Recovered:    only(f, o.Recovered, func(e job.RecoveredEvent) job.Event { return e.Event }),
		Fault:        only(f, o.Fault, func(e job.FaultEvent) job.Event { return e.Event }),
		Missed:       only(f, o.Missed, func(e job.MissedEvent) job.Event { return e.Event }),
	}
}

// only is a function of an observer, for the jobs of a filter. It is nil if the function is.
func only[E any](f Filter, tell func(E), event func(E) job.Event) func(E) {
	if tell == nil {
		return nil
	}
	return func(e E) {
		if f.Has(event(e).JobName) {
			tell(e)
		}
	}
}
