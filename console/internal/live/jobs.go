package live

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Jobs returns the jobs of a namespace, by name, and when that was so: what its feed knows. If there is none, one is opened,
// which goes on for Options.Linger: who asks again soon, as those do who walk the pages of a list, need not wait
// again. What was committed a moment ago may not be known yet. When something is wrong with the feed, or there is no room
// for one, the store is read. The jobs are shared: nobody changes them.
//
// Errors: those of Options.Ops and of [ops.Ops.Jobs]; route.ErrClosed after Close; the cause of ctx.
func (l *Live) Jobs(ctx context.Context, namespace string) (jobs []*ops.JobInfo, at time.Time, err error) {
	if !l.start() {
		return nil, time.Time{}, route.ErrClosed
	}
	defer l.running.Done()
	if f, err := l.attach(topic{namespace: namespace}); err == nil {
		defer l.detach(f)
		if jobs, ok := f.wait(ctx); ok {
			return jobs, time.Now(), nil
		}
	}
	o, err := l.o.Ops(ctx, namespace)
	if err != nil {
		return nil, time.Time{}, err
	}
	at = time.Now()
	list, err := o.Jobs(ctx, ops.JobsQuery{})
	if err != nil {
		return nil, time.Time{}, err
	}
	for i := range list.Jobs {
		jobs = append(jobs, &list.Jobs[i])
	}
	return jobs, at, nil
}

// wait waits until the feed has a first state, and returns all jobs by name, if they are known to be as they are now.
func (f *feed) wait(ctx context.Context) (jobs []*ops.JobInfo, ok bool) {
	for {
		f.mu.Lock()
		changed, isOpening := f.changed, f.isOpening && !f.isKnown && f.ended == nil
		if !isOpening {
			defer f.mu.Unlock()
			if f.fault.why != "" || f.ended != nil {
				return nil, false
			}
			return f.list(), true
		}
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false
		}
	}
}

// list returns all jobs by name.
func (f *feed) list() []*ops.JobInfo {
	if f.listed == nil {
		f.listed = make([]*ops.JobInfo, 0, len(f.journal.newest))
		for _, e := range f.journal.newest {
			if e.json != nil {
				f.listed = append(f.listed, e.info)
			}
		}
		slices.SortFunc(f.listed, func(a, b *ops.JobInfo) int { return cmp.Compare(a.Name, b.Name) })
	}
	return f.listed
}
