package jobfile

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

// handler returns what does the work of a job.
func (a *App) handler(d *declared) job.Handler {
	return a.handlers[cmp.Or(d.work.jobType, d.work.implementation)]
}

// options returns the options of the job.
func (d *declared) options() []job.Option {
	var options []job.Option
	if d.work.implementation != "" {
		options = append(options, job.WithImplementation(d.work.implementation))
	}
	return options
}

// observers returns those that the sections have for all jobs of the node.
func (a *App) observers() ([]job.Option, error) {
	f := a.file
	var list []job.Option
	if s := f.tracing; s != nil && !s.off {
		tracer, err := a.tracer(s)
		if err != nil {
			return nil, err
		}
		list = append(list, tracer.Only(s.jobs))
	}
	if s := f.metrics; s != nil && !s.off {
		o, isProgram := f.options.Metrics[s.typ]
		switch {
		case isProgram:
		case a.exporter != nil:
			o = a.exporter.Observer()
		default:
			o = a.metrics.observer()
		}
		list = append(list, job.WithObserver(trace.Only(s.jobs, o)))
	}
	if s := f.dump; s != nil && !s.off && f.options.Log == nil {
		runs, err := a.keepRuns()
		if err != nil {
			return nil, err
		}
		list = append(list, runs.Only(s.jobs))
	}
	return list, nil
}

// runsInterval is how long a line of a run waits, so that who follows the run sees it soon.
const runsInterval = 250 * time.Millisecond

// keepRuns keeps the newest runs and their lines in memory, for the section dump.
func (a *App) keepRuns() (*trace.Recorder, error) {
	var err error
	if a.runs, err = trace.NewNewest(trace.NewestOptions{}); err != nil {
		return nil, fmt.Errorf("jobfile: %s: %w", keyDump, err)
	}
	r, err := trace.New(a.runs, trace.Options{Interval: runsInterval, Slog: a.log})
	if err != nil {
		return nil, fmt.Errorf("jobfile: %s: %w", keyDump, err)
	}
	a.close = append(a.close, r.Close)
	return r, nil
}

// tracer returns what the section tracing names.
func (a *App) tracer(s *section) (Tracer, error) {
	if t, isProgram := a.file.options.Tracing[s.typ]; isProgram {
		if t == nil {
			return nil, fmt.Errorf("jobfile: %s.type: %s: Options.Tracing has nil for it", keyTracing, brief.Quote(s.typ))
		}
		return t, nil
	}
	var sink trace.Sink = trace.Slog(a.log)
	o := trace.Options{Lines: trace.Lines{Off: true}, Slog: a.log}
	if open := a.file.options.Databases[s.typ]; open != nil {
		database, err := open(DatabaseConfig{Address: s.database, Keep: s.keep, Log: a.log})
		if err != nil {
			return nil, fmt.Errorf("jobfile: %s: %s.database: %w", a.file.at(keyTracing), keyTracing, err)
		}
		a.close = append(a.close, func(context.Context) error { return database.Close() })
		sink, o.Lines.Off = database, false
	}
	r, err := trace.New(sink, o)
	if err != nil {
		return nil, fmt.Errorf("jobfile: %s: %w", keyTracing, err)
	}
	a.close = append(a.close, r.Close)
	a.recorder = r
	return r, nil
}

// warnIdle says which patterns match no job of the files. With node.serve they may be for others.
func (a *App) warnIdle() {
	for key, s := range map[string]*section{keyTracing: a.file.tracing, keyMetrics: a.file.metrics, keyDump: a.file.dump} {
		if s == nil || s.off || a.runner != nil {
			continue
		}
		for _, pattern := range slices.Concat(s.include, s.exclude) {
			// The patterns were checked.
			if f, err := trace.NewFilter([]string{pattern}, nil); err == nil && !slices.ContainsFunc(a.file.Jobs(), func(c jobtype.Config) bool { return f.Has(c.Name) }) {
				a.log.Warn("a pattern in the configuration files matches no job", slog.String("section", key), slog.String("pattern", pattern))
			}
		}
	}
}
