package script

import (
	"errors"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// Name is the name of the type, for [job.OfType]: ElasticJob's.
const Name = "SCRIPT"

// Options are what the process gives to its scripts.
type Options struct {
	// Lookup finds what references in the properties script.env.* stand for. Default
	// [property.FromProcess].
	Lookup property.Lookup
}

// Supervisor shows that [Supervise] was called.
type Supervisor struct{ called bool }

// New returns the type of jobs that run a program. It needs what [Supervise] has returned.
func New(s Supervisor, o Options) (job.Type, error) {
	if !s.called {
		return nil, errors.New("script: New needs what Supervise returned; call script.Supervise first of all in main, before the program does anything else")
	}
	if o.Lookup == nil {
		o.Lookup = property.FromProcess()
	}
	return job.TypeFunc(func(c job.Config) (job.Handler, error) {
		s, err := readSettings(job.NewProperties(c.Props))
		if err != nil {
			return nil, err
		}
		s.lookup = o.Lookup
		return s, nil
	}), nil
}
