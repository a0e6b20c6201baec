package worker

import (
	"context"
	"fmt"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/script"
)

// recorded is a handler of a type, whose executions are written down as those of any other.
type recorded struct {
	handler
	does job.Handler
}

// Streams is that of the handler.
func (r recorded) Streams() bool {
	s, ok := r.does.(job.Streamer)
	return ok && s.Streams()
}

// recording is a type whose handlers are recorded.
type recording struct {
	handler
	kind job.Type
}

// Handler returns the type's handler for a configuration.
func (r recording) Handler(c job.Config) (job.Handler, error) {
	does, err := r.kind.Handler(c)
	if err != nil {
		return nil, err
	}
	h := r.handler
	h.work = does.Execute
	if h.Stubborn {
		h.work = func(ctx context.Context, sc job.ShardingContext) error {
			return does.Execute(context.WithoutCancel(ctx), sc)
		}
	}
	return recorded{h, does}, nil
}

// work returns what does the work of a job, and the options that it needs.
func (w *worker) work(j Job) (job.Handler, []job.Option, error) {
	h := handler{Job: j, log: w.log, fence: w.fence, gate: &w.gate}
	h.work = h.items
	switch {
	case j.Stream != nil:
		return recording{h, h.flow()}, nil, nil
	case j.Script:
		kind, err := script.New(w.supervisor, script.Options{})
		if err != nil {
			return nil, nil, fmt.Errorf("worker: %w", err)
		}
		return job.OfType(script.Name), []job.Option{job.WithType(script.Name, recording{h, kind})}, nil
	}
	return h, nil, nil
}
