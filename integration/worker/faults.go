package worker

import (
	"context"

	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/job"
)

// maxText bounds the texts of faults, in bytes.
const maxText = 300

// reported returns the texts of the faults that a scheduler reports, by kind.
func reported(s *job.Scheduler) map[string]string {
	faults := map[string]string{}
	for _, f := range s.Status().Faults {
		faults[f.Kind.String()] = f.Err.Error()
	}
	return faults
}

// watch writes down, until ctx ends, when a scheduler begins and ceases to report a fault.
func (w *worker) watch(ctx context.Context, name string, s *job.Scheduler) {
	before := map[string]string{}
	for {
		news := s.Changed()
		now := reported(s)
		say := func(kind history.Kind, fault, text string) {
			e := history.Now(kind)
			e.Job, e.Name, e.Err = name, fault, text[:min(len(text), maxText)]
			e.Instance = s.Status().InstanceID
			w.log.Add(e)
		}
		for fault, text := range now {
			if _, ok := before[fault]; !ok {
				say(history.Faulty, fault, text)
			}
		}
		for fault := range before {
			if _, ok := now[fault]; !ok {
				say(history.Sound, fault, "")
			}
		}
		before = now
		select {
		case <-news:
		case <-s.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}
