package prom

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/trace"
)

// Options are what metrics show. The zero value will do.
type Options struct {
	// Namespace is that of the registry, and tells jobs of the same name apart: it is the label
	// job_namespace of each series. Default none.
	Namespace string
	// Include are patterns of the jobs that get series of their own, or Exclude are those of the
	// jobs that get none; see [trace.NewFilter]. The others share series, without the label
	// job_name. Default: each job has its own.
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

// check returns the options with their defaults, and which jobs have names.
func (o Options) check() (Options, trace.Filter, error) {
	named, err := trace.NewFilter(o.Include, o.Exclude)
	switch {
	case err != nil:
		return o, named, fmt.Errorf("prom: Include, Exclude: %w", err)
	case o.MaxJobs < -1:
		return o, named, fmt.Errorf("prom: MaxJobs %d: a number of jobs is allowed, 0 for the default of %d, and -1 for none", o.MaxJobs, defaultMaxJobs)
	case o.MaxJobs == 0:
		o.MaxJobs = defaultMaxJobs
	}
	return o, named, nil
}
