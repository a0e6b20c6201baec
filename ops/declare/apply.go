package declare

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticjob-go/elasticjob/ops"
)

// Result is what has come of a step.
type Result struct {
	Step
	// Err is why the step was not done; nil if it was, or if there was nothing to do.
	Err error `json:"-"`
}

// Lost reports whether somebody else has changed the job, or the calendar, since the plan was made.
// Nothing was written then: make another plan.
func (r Result) Lost() bool {
	for _, err := range []error{ops.ErrConfigChanged, ops.ErrCalendarChanged, ops.ErrJobExists, ops.ErrNoJob, ops.ErrOtherSet} {
		if errors.Is(r.Err, err) {
			return true
		}
	}
	return false
}

// Apply does what the plan says, and returns what has come of each step, in their order. What fails
// does not keep the others from being done, but nothing is pruned then. progress may be nil; its
// calls do not overlap. With [ops.Ops.DryRun] all is checked again, and nothing is written.
func (p *Plan) Apply(ctx context.Context, o *ops.Ops, progress func(done, total int)) []Result {
	results := make([]Result, len(p.Steps))
	var parts [3][]*Result // one after the other
	for i, s := range p.Steps {
		results[i].Step = s
		switch {
		case s.Action == Refuse:
			results[i].Err = s.Err
		case !s.Action.Writes():
		case s.Kind == Calendar:
			parts[0] = append(parts[0], &results[i])
		case s.Action == Prune:
			parts[2] = append(parts[2], &results[i])
		default:
			parts[1] = append(parts[1], &results[i])
		}
	}
	before, total := 0, len(parts[0])+len(parts[1])+len(parts[2])
	for n, part := range parts {
		if n == 2 && failed(results) {
			for _, r := range part {
				r.Err = ErrSkipped
			}
			break
		}
		errs := each(ctx, part, func(done, _ int) {
			if progress != nil {
				progress(before+done, total)
			}
		}, func(ctx context.Context, _ int, r *Result) error { return p.do(ctx, o, r.Step) })
		for i, r := range part {
			r.Err = errs[i]
		}
		before += len(part)
	}
	return results
}

func failed(results []Result) bool {
	for _, r := range results {
		if r.Err != nil {
			return true
		}
	}
	return false
}

// do does one step.
func (p *Plan) do(ctx context.Context, o *ops.Ops, s Step) error {
	switch {
	case s.Kind == Calendar:
		_, err := o.PutCalendar(ctx, s.calendar)
		return err
	case s.Action == Prune:
		return o.Job(s.Name).Remove(ctx, ops.RemoveRequest{Why: fmt.Sprintf("the files of the set %s do not have it any more", p.Set), Version: s.version, Set: p.Set})
	case s.Action == Forget:
		return o.Job(s.Name).Release(ctx, p.Set)
	}
	return o.Apply(ctx, s.request)
}
