package main

import (
	"context"
	"time"
)

// happening is what the program does in the middle of the window.
type happening struct {
	at time.Time
	// took is how long the worker took to start all jobs, or to shut them down.
	took   time.Duration
	before Counters // of the workers that stay
}

// happen lets a process come or go.
func (r *runner) happen(ctx context.Context, w Window) error {
	last := r.members[len(r.members)-1]
	if r.options.Event == eventJoin {
		// It connects first: only the jobs are of interest.
		if err := r.join(ctx); err != nil {
			return err
		}
		last = r.members[len(r.members)-1]
		if err := r.note(ctx, []*member{last}, w); err != nil {
			return err
		}
	}
	if _, err := r.probe(ctx); err != nil {
		return err
	}
	h := &happening{at: time.Now()}
	r.report.happened = h
	var took Took
	var err error
	switch r.options.Event {
	case eventJoin:
		took, err = call[None, Took](ctx, last.child, "Start", None{})
	case eventLeave:
		took, err = call[None, Took](ctx, last.child, "Stop", None{})
		last.gone = true
		if err == nil {
			_, err = call[None, None](ctx, last.child, "Close", None{})
		}
	case eventKill:
		last.kill()
		last.gone, last.killed = true, h.at
	}
	for _, m := range r.members {
		if !m.gone {
			h.before = h.before.plus(m.last)
		}
	}
	h.took = took.All
	r.say("%s after %v", r.options.Event, h.took)
	return err
}
