package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/request"
	"github.com/elasticjob-go/elasticjob/job/calendar"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Trigger asks for runs now, in the name of [Ops.By] unless the request has one: see
// job.Scheduler.Trigger, which does the same for a program that runs the job.
func (j *Job) Trigger(ctx context.Context, r jobtype.TriggerRequest) (*jobtype.Requested, error) {
	if !jobtree.IsName(string(j.name)) {
		return nil, fmt.Errorf("job %s: %s: the name is not one that a job can have: %w", brief.Quote(string(j.name)), ActionTrigger, ErrNoJob)
	}
	if r.By == "" {
		r.By = j.ops.by
	}
	return j.ask(ctx, ActionTrigger, r.Key, r.Parameter, func(to request.Job) (*jobtype.Requested, error) { return to.Trigger(ctx, r) })
}

// RetryRequest says which failures are to be tried again.
type RetryRequest struct {
	// Tick is the scheduled time of the executions that have failed. The zero time stands for
	// the latest one for which an item has failed.
	Tick time.Time
	// Items are those to run again if they have failed; none means all. Items that are named
	// run again also if they were cut short or killed.
	Items []int
	// Parameter replaces Config.JobParameter in these executions, if it is not empty. That of the
	// request for which an item has failed does not count any more. Up to jobtype.MaxTriggerParameter
	// bytes.
	Parameter string
	// Key makes it safe to ask again: see [jobtype.TriggerRequest].
	Key string
}

// Retry runs the items again that have failed for a tick. They have [jobtype.SourceRetry] and that
// tick as the scheduled time, and wait for their turn as triggered ones do. It looks at the last
// execution of each item, which is all that the tree has: an item that has run for another tick
// since is left out. Retry returns when the store has the request; see [jobtype.Requested.Wait].
//
// Errors: jobtype.ErrKeyUsed; ErrNothingFailed; jobtype.ErrNoItem; jobtype.ErrQueueFull; those of a read and of a commit.
func (j *Job) Retry(ctx context.Context, r RetryRequest) (*jobtype.Requested, error) {
	asked := fmt.Appendf(nil, "retry %v %v %q", r.Tick.UnixMilli(), slices.Sorted(slices.Values(r.Items)), r.Parameter)
	return j.askFor(ctx, ActionRetry, r.Key, r.Parameter, asked, func(s *jobtree.State, c jobtype.Config) (jobtree.RequestDocument, error) {
		if err := mayName(c, r.Items); err != nil {
			return jobtree.RequestDocument{}, err
		}
		failed, first := map[int64][]int{}, map[int]string{}
		var latest time.Time
		for i := range s.Items {
			if len(r.Items) > 0 && !slices.Contains(r.Items, i) || s.Items[i].Completed == nil {
				continue
			}
			d, err := s.Items[i].Completed.Document()
			if err != nil || d.Tick.IsZero() || !mayRetry(d.Outcome, len(r.Items) > 0) {
				continue
			}
			failed[d.Tick.UnixMilli()] = append(failed[d.Tick.UnixMilli()], i)
			first[i] = cmp.Or(d.Original, d.TaskID)
			if d.Tick.After(latest) {
				latest = d.Tick
			}
		}
		tick := r.Tick
		if tick.IsZero() {
			tick = latest
		}
		items := failed[tick.UnixMilli()]
		if len(items) == 0 {
			return jobtree.RequestDocument{}, ErrNothingFailed
		}
		originals := make([]string, len(items))
		for n, i := range items {
			originals[n] = first[i]
		}
		return jobtree.RequestDocument{Items: items, Parameter: r.Parameter, Ticks: []time.Time{tick}, Originals: originals, Source: jobtype.SourceRetry.String()}, nil
	})
}

// mayName returns an error if the job has not all of the items.
func mayName(c jobtype.Config, items []int) error {
	for _, i := range items {
		if i < 0 || i >= c.ShardingTotalCount {
			return fmt.Errorf("%w: item %d: 0 to %d are allowed", jobtype.ErrNoItem, i, c.ShardingTotalCount-1)
		}
	}
	return nil
}

// mayPass returns an error for a parameter that is too long.
func mayPass(parameter string) error {
	if len(parameter) > jobtype.MaxTriggerParameter {
		return wrong("parameter", "parameter: %d bytes, at most %d are allowed", len(parameter), jobtype.MaxTriggerParameter)
	}
	return nil
}

// mayRetry reports whether an execution with an outcome is one to try again.
func mayRetry(o jobtree.Outcome, isNamed bool) bool {
	switch o {
	case jobtree.OutcomeFailed, jobtree.OutcomePanic, jobtree.OutcomeTimeout:
		return true
	case jobtree.OutcomeCut, jobtree.OutcomeKilled:
		return isNamed
	}
	return false
}

// BackfillRequest says for which ticks items are to run.
type BackfillRequest struct {
	// From and To bound the ticks; both are included. To must not be in the future. In between
	// there are one tick at least, and MaxBackfillTicks at most.
	From, To time.Time
	// Items are those to run; none means all, and in a broadcast job all that have an owner now,
	// whoever had them at the time of the ticks.
	Items []int
	// Parameter replaces Config.JobParameter in these executions, if it is not empty. Up to
	// jobtype.MaxTriggerParameter bytes.
	Parameter string
	// StopAtFailure leaves the other ticks of an item out when one has failed. Without it they
	// run, and the outcome of the item is FAILED in the end.
	StopAtFailure bool
	// Key makes it safe to ask again: see [jobtype.TriggerRequest].
	Key string
}

// MaxBackfillTicks bounds the ticks of one request: 1000. Several requests wait for each other.
const MaxBackfillTicks = jobtree.MaxRequestTicks

// Backfill runs items for the ticks of some time, as the job's schedule is now. Each item runs
// for one tick after the other, beside the other items, with [jobtype.SourceBackfill] and that tick
// as the scheduled time; whether it has run for it before does not matter. Ticks of the
// schedule have the precedence, and do not change: a tick that comes while its item runs for a
// backfill begins when that run ends, and counts as on time. Ticks that a calendar leaves out, or
// after the end of the job (job.Expiry), have never been. The job needs MonitorExecution and a
// schedule. Backfill returns when the store has the request; see [jobtype.Requested.Wait].
//
// Errors: jobtype.ErrKeyUsed; ErrTicks; jobtype.ErrNoItem; jobtype.ErrQueueFull; jobtype.ErrNobodyRunsIt, if no item of a broadcast job has an owner; those
// of a read and of a commit; others for a bad request.
func (j *Job) Backfill(ctx context.Context, r BackfillRequest) (*jobtype.Requested, error) {
	asked := fmt.Appendf(nil, "backfill %v %v %v %q %v", r.From.UnixMilli(), r.To.UnixMilli(), slices.Sorted(slices.Values(r.Items)), r.Parameter, r.StopAtFailure)
	return j.askFor(ctx, ActionBackfill, r.Key, r.Parameter, asked, func(s *jobtree.State, c jobtype.Config) (jobtree.RequestDocument, error) {
		d := jobtree.RequestDocument{Items: slices.Clone(r.Items), Parameter: r.Parameter, Source: jobtype.SourceBackfill.String(), Halts: r.StopAtFailure}
		switch {
		case c.MonitorExecution == jobtype.Off:
			return d, wrong("job", "the job keeps no records (MonitorExecution is off), which a backfill needs")
		case r.From.IsZero():
			return d, wrong("from", "from: needed")
		case r.To.After(j.ops.now()):
			return d, wrong("to", "to %s: it has not come yet", r.To.Format(time.RFC3339))
		}
		if err := mayName(c, d.Items); err != nil {
			return d, err
		}
		slices.Sort(d.Items)
		if d.Items = slices.Compact(d.Items); len(d.Items) == 0 {
			for i := range c.ShardingTotalCount {
				if !c.Broadcast || s.Item(i).Owner != nil {
					d.Items = append(d.Items, i)
				}
			}
		}
		if len(d.Items) == 0 {
			return d, jobtype.ErrNobodyRunsIt
		}
		schedule, err := j.ops.ticks(ctx, c, s.Schedule)
		if err != nil {
			return d, err
		}
		d.Ticks, err = ticksBetween(c, schedule, r.From, r.To)
		return d, err
	})
}

// ticksBetween returns the ticks of a schedule within a time.
func ticksBetween(c jobtype.Config, schedule calendar.Schedule, from, to time.Time) ([]time.Time, error) {
	if schedule == nil {
		return nil, fmt.Errorf("%w: a one-off job has no ticks", ErrTicks)
	}
	var ticks []time.Time
	for at := schedule.Next(from.Add(-time.Nanosecond)); !at.IsZero() && !at.After(to); at = schedule.Next(at) {
		if len(ticks) == MaxBackfillTicks {
			return nil, fmt.Errorf("%w: more than %d ticks lie between %s and %s; ask for a part at a time", ErrTicks, MaxBackfillTicks, from.Format(time.RFC3339), to.Format(time.RFC3339))
		}
		ticks = append(ticks, at)
	}
	if len(ticks) == 0 {
		return nil, fmt.Errorf("%w: no tick of %s lies between %s and %s", ErrTicks, brief.Quote(c.Cron), from.Format(time.RFC3339), to.Format(time.RFC3339))
	}
	return ticks, nil
}

// askFor makes the request that of returns. asked is what was asked for under the key.
func (j *Job) askFor(ctx context.Context, action Action, key, parameter string, asked []byte, of func(*jobtree.State, jobtype.Config) (jobtree.RequestDocument, error)) (*jobtype.Requested, error) {
	return j.ask(ctx, action, key, parameter, func(to request.Job) (*jobtype.Requested, error) {
		return to.Make(ctx, key, asked, func(s *jobtree.State) (jobtree.RequestDocument, error) {
			config, err := jobtype.DecodeConfig(s.Config.Value)
			if err != nil {
				return jobtree.RequestDocument{}, err
			}
			d, err := of(s, config)
			d.By = j.ops.by
			return d, err
		})
	})
}

// ask has a request made, which is committed together with the entry of the audit.
func (j *Job) ask(ctx context.Context, action Action, key, parameter string, do func(request.Job) (*jobtype.Requested, error)) (*jobtype.Requested, error) {
	r, err := (*jobtype.Requested)(nil), errors.Join(mayHave(key), mayPass(parameter))
	if err == nil {
		r, err = do(request.Job{Name: j.name, Registry: j.ops.reg, Read: j.read, Now: j.ops.now, Commit: j.commitRequest(action)})
	}
	if ctx.Err() == nil && (isConflict(err) || errors.Is(err, coord.ErrUnknownOutcome)) {
		err = fmt.Errorf("%w: %w", ErrBusy, err)
	}
	if err != nil {
		return nil, fmt.Errorf("job %s: %s: %w", brief.Text(string(j.name)), action, err)
	}
	return r, nil
}

func (j *Job) commitRequest(action Action) func(context.Context, string, jobtree.RequestDocument, []coord.Op) error {
	return func(ctx context.Context, id string, d jobtree.RequestDocument, ops []coord.Op) error {
		act, err := j.ops.act(j.name, action)
		if err != nil {
			return err
		}
		_, err = act.says(requestText(d), "", "request "+id).commit(ctx, ops...)
		return err
	}
}

// mayHave returns an error for a key that is too long.
func mayHave(key string) error {
	if len(key) > jobtype.MaxRequestKey {
		return wrong("key", "key: %d bytes, at most %d are allowed", len(key), jobtype.MaxRequestKey)
	}
	return nil
}

// Cancel ends a request. Executions that run for it come to their end; what has not begun does
// not begin, and its outcome is SKIPPED. Whoever waits for the request is told at once: items
// that still run are SKIPPED then, too, and have their outcome when they have ended. A request
// that has ended stays as it is. It is one commit.
//
// Errors: jobtype.ErrNoRequest; those of a read and of a commit.
func (j *Job) Cancel(ctx context.Context, id string) error {
	return j.try(ctx, "cancel request "+brief.Quote(id), func(s *jobtree.State) error {
		r := s.Request(id)
		if r == nil {
			return jobtype.ErrNoRequest
		}
		if r.Err != nil || !r.Ended.IsZero() {
			return r.Err
		}
		d := r.RequestDocument
		d.Ended = j.ops.now()
		value, err := jobtree.EncodeRequest(d)
		if err != nil {
			return err
		}
		act, err := j.ops.act(j.name, ActionCancel)
		if err != nil {
			return err
		}
		_, err = act.says("request "+id, "", "").commit(ctx, coord.SetAt(j.name.Request(id), value, r.Version))
		return err
	})
}
