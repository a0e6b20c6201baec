package prom

import (
	"fmt"
	"path"
	"slices"
)

// Options are what metrics show. The zero value will do.
type Options struct {
	// Namespace is that of the registry, and tells jobs of the same name apart: it is the label
	// job_namespace of each series. Default none.
	Namespace string
	// Include are patterns of the jobs that get series of their own, Exclude those of jobs that get
	// none; [path.Match] says what they may have: settle-*. One of the two is allowed. The others
	// share series, whose label job_name is empty. Default: each job has its own.
	Include, Exclude []string
	// MaxJobs is how many jobs have series of their own at a time, some 60 each. Further ones share
	// those with the label job_name="~other", and elasticjob_jobs_beyond_limit counts them; most
	// alerts are not for them. Default 500; -1 means none, so that no series has the name of a job.
	MaxJobs int
}

// defaultMaxJobs is the default of Options.MaxJobs.
const defaultMaxJobs = 500

// Labels of series that jobs share. No job can have the name ~other.
const (
	unnamed = ""
	others  = "~other"
)

// check returns the options with their defaults.
func (o Options) check() (Options, error) {
	if len(o.Include) > 0 && len(o.Exclude) > 0 {
		return o, fmt.Errorf("prom: Include and Exclude: one of them is allowed")
	}
	for _, pattern := range slices.Concat(o.Include, o.Exclude) {
		if _, err := path.Match(pattern, ""); err != nil {
			return o, fmt.Errorf("prom: pattern %q: %w; path.Match says what is allowed", pattern, err)
		}
	}
	switch {
	case o.MaxJobs < -1:
		return o, fmt.Errorf("prom: MaxJobs %d: -1, for none, 0, for the default of %d, or a number of jobs is allowed", o.MaxJobs, defaultMaxJobs)
	case o.MaxJobs == 0:
		o.MaxJobs = defaultMaxJobs
	}
	return o, nil
}

// names reports whether a job is to have series of its own.
func (o *Options) names(job string) bool {
	is := func(pattern string) bool {
		matches, err := path.Match(pattern, job)
		return err == nil && matches
	}
	switch {
	case o.MaxJobs < 0:
		return false
	case len(o.Include) > 0:
		return slices.ContainsFunc(o.Include, is)
	}
	return !slices.ContainsFunc(o.Exclude, is)
}
