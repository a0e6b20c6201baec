package jobfile

import (
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/job"
)

// handler returns what does the work of a job.
func (f *File) handler(d *declared) job.Handler {
	if d.work.jobType != "" {
		return job.OfType(d.work.jobType)
	}
	return f.options.Handlers[d.work.implementation]
}

// jobOptions returns the options of one job.
func (a *App) jobOptions(d *declared) []job.Option {
	var options []job.Option
	if d.work.implementation != "" {
		options = append(options, job.WithImplementation(d.work.implementation))
	}
	// Overwrite puts the file in force whatever its revision is.
	if d.config.Revision > 0 && !d.config.Overwrite {
		options = append(options, job.WithPrecedence(job.PrecedenceCode))
	}
	return options
}

// observers returns those that the sections have for all jobs of the node.
func (a *App) observers() []job.Option {
	f := a.file
	var list []job.Option
	add := func(s *section, programs map[string]job.Observer, own func() job.Observer) {
		if s == nil || s.off {
			return
		}
		o, isProgram := programs[s.typ]
		if !isProgram {
			o = own()
		}
		list = append(list, job.WithObserver(only(s.isFor, o)))
	}
	add(f.tracing, f.options.Tracing, func() job.Observer { return logObserver(a.log) })
	add(f.metrics, f.options.Metrics, a.metrics.observer)
	return list
}

// accepts asks what does the work of a job, and its error handlers, whether they take its
// configuration. Otherwise a slip would come into the registry, and all processes would refuse
// it there.
func (a *App) accepts(d *declared) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	c := d.config.WithDefaults()
	t, isType := a.types[d.work.jobType]
	if !isType {
		t, isType = a.file.options.Handlers[d.work.implementation].(job.Type)
	}
	if isType {
		if _, err := t.Handler(c); err != nil {
			return err
		}
	}
	for name := range strings.SplitSeq(c.ErrorHandler, ",") {
		if t := a.errorHandlers[strings.TrimSpace(name)]; t != nil {
			if _, err := t.ErrorHandler(c, a.log); err != nil {
				return err
			}
		}
	}
	return nil
}
