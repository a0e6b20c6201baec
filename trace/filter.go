package trace

import (
	"fmt"
	"path"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
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
func Only(f Filter, o jobtype.Observer) jobtype.Observer {
	return func(e jobtype.Event) {
		if f.Has(e.JobName) {
			o(e)
		}
	}
}
