package worker

import (
	"context"
	"fmt"
	"strings"
	"time"

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

// work returns what does the work of a job.
func (w *worker) work(j Job) (job.Handler, error) {
	h := handler{Job: j, log: w.log, fence: w.fence, gate: &w.gate}
	h.work = h.items
	switch {
	case j.Config.Props[timesKey] != "":
		return job.OfType(Kind, w.kind()), nil
	case j.Stream != nil:
		return recording{h, h.flow()}, nil
	case j.Script:
		kind, err := script.New(w.supervisor, script.Options{})
		if err != nil {
			return nil, fmt.Errorf("worker: %w", err)
		}
		return job.OfType(script.Name, recording{h, kind}), nil
	}
	return h, nil
}

// Kind is the type of jobs whose work stands in their properties ([Times]), so that any worker can
// do it.
const Kind = "work"

// timesKey is the property that says how long items take.
const timesKey = Kind + ".times"

// Times returns the properties of a job of the type Kind: see Job.Work.
func Times(work []time.Duration) map[string]string {
	texts := make([]string, max(1, len(work)))
	texts[0] = "0s"
	for i, d := range work {
		texts[i] = d.String()
	}
	return map[string]string{timesKey: strings.Join(texts, ",")}
}

// kind is the type Kind.
func (w *worker) kind() job.Type {
	return job.TypeFunc(func(c job.Config) (job.Handler, error) {
		h := handler{log: w.log, fence: w.fence, gate: &w.gate}
		for text := range strings.SplitSeq(c.Props[timesKey], ",") {
			d, err := time.ParseDuration(text)
			if err != nil {
				return nil, fmt.Errorf("worker: property %s: %w", timesKey, err)
			}
			h.Work = append(h.Work, d)
		}
		h.work = h.items
		return h, nil
	})
}
