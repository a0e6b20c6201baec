package jobfile

import (
	"log/slog"
	"slices"

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

// warnIdle says which patterns match no job of the files. With node.serve they may be for others.
func (a *App) warnIdle() {
	for key, s := range map[string]*section{keyTracing: a.file.tracing, keyMetrics: a.file.metrics, keyDump: a.file.dump} {
		if s == nil || s.off || a.runner != nil {
			continue
		}
		for _, pattern := range slices.Concat(s.include, s.exclude) {
			matches := func(c job.Config) bool { return matches(pattern, c.Name) }
			if !slices.ContainsFunc(a.file.Jobs(), matches) {
				a.log.Warn("a pattern in the configuration files matches no job", slog.String("section", key), slog.String("pattern", pattern))
			}
		}
	}
}
