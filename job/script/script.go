package script

import (
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// Name is the name of the type, for [job.OfType]: ElasticJob's.
const Name = "SCRIPT"

// Options are what the process gives to its scripts.
type Options struct {
	// Allow is which programs jobs may run, as whom, and what they may refer to. Default:
	// everything. What script.inherit has by default is always allowed.
	Allow *allow.List
	// Lookup finds what references in the properties script.env.* stand for, for all jobs.
	// Default: what the process has and Allow allows.
	Lookup property.Lookup
}

// Supervisor shows that [Supervise] was called.
type Supervisor struct {
	called bool
	err    error // why scripts might read what the worker has
}

// New returns the type of jobs that run a program. It needs what [Supervise] has returned.
func New(s Supervisor, o Options) (job.Type, error) {
	if !s.called {
		return nil, errors.New("script: New needs what Supervise returned; call script.Supervise first of all in main, before the program does anything else")
	}
	if s.err != nil {
		return nil, fmt.Errorf("script: hide the worker's environment from scripts: %w", s.err)
	}
	return job.TypeFunc(func(c job.Config) (job.Handler, error) {
		s, err := readSettings(job.NewProperties(c.Props))
		if err != nil {
			return nil, err
		}
		list := o.Allow.For(c.Name)
		if s.lookup = o.Lookup; s.lookup == nil {
			s.lookup = list.Lookup()
		}
		if err := s.narrow(list); err != nil {
			return nil, err
		}
		return s, nil
	}), nil
}
