package worker

import (
	"context"
	"time"

	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/job"
)

// reported is what a scheduler reports as faults: their texts, by kind.
func reported(s *job.Scheduler) map[string]string {
	faults := map[string]string{}
	if err := s.Status().Fault; err != nil {
		faults["fault"] = err.Error()
	}
	return faults
}

// changed is closed when what a scheduler reports may have changed.
func changed(*job.Scheduler) <-chan time.Time { return time.After(200 * time.Millisecond) }

// watch writes down, until ctx ends, when a scheduler begins and ceases to report a fault.
func (w *worker) watch(ctx context.Context, name string, s *job.Scheduler) {
	const most = 300 // bytes of a text
	before := map[string]string{}
	for {
		news := changed(s)
		now := reported(s)
		say := func(kind history.Kind, fault, text string) {
			e := history.Now(kind)
			e.Job, e.Name, e.Err = name, fault, text[:min(len(text), most)]
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
