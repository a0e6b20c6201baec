package live

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

const (
	// fresh is how long a read serves others that ask.
	fresh = time.Second
	// maxRead bounds one.
	maxRead = 30 * time.Second
)

// read is a read of a namespace, for all who ask meanwhile.
type read struct {
	done chan struct{}
	jobs []*ops.JobInfo
	at   time.Time
	err  error
}

// Jobs returns the jobs of a namespace, by name, and a moment at which, or after which, they were so. They are shared, so
// nobody changes them. If somebody watches the namespace and nothing is wrong with that, it is what the watch knows
// now, but for what Options.Every and the store hold back. Else it is what one read of the store has found, which has
// ended at most a second ago.
//
// Errors: those of Options.Ops and of [ops.Ops.Jobs]; route.ErrClosed after Close; the cause of ctx.
func (l *Live) Jobs(ctx context.Context, namespace string) (jobs []*ops.JobInfo, at time.Time, err error) {
	l.mu.Lock()
	f := l.feeds[topic{namespace: namespace}]
	l.mu.Unlock()
	if f != nil {
		if jobs, ok := f.jobs(); ok {
			return jobs, time.Now(), nil
		}
	}
	r, err := l.read(namespace)
	if err != nil {
		return nil, time.Time{}, err
	}
	select {
	case <-r.done:
		return r.jobs, r.at, r.err
	case <-ctx.Done():
		return nil, time.Time{}, context.Cause(ctx)
	}
}

// jobs returns all jobs by name, if they are known.
func (f *feed) jobs() ([]*ops.JobInfo, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.isKnown || f.fault != "" || f.ended != nil {
		return nil, false
	}
	if f.listed == nil {
		f.listed = make([]*ops.JobInfo, 0, len(f.journal.newest))
		for _, e := range f.journal.newest {
			if e.json != nil {
				f.listed = append(f.listed, e.info)
			}
		}
		slices.SortFunc(f.listed, func(a, b *ops.JobInfo) int { return cmp.Compare(a.Name, b.Name) })
	}
	return f.listed, true
}

// read returns the read of a namespace that is under way or was a moment ago; a new one if there is none.
func (l *Live) read(namespace string) (*read, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.reads[namespace]; r != nil {
		return r, nil
	}
	if l.isClosed {
		return nil, route.ErrClosed
	}
	r := &read{done: make(chan struct{})}
	l.reads[namespace] = r
	l.running.Go(func() {
		defer close(r.done)
		ctx, cancel := context.WithTimeout(l.ctx, maxRead)
		defer cancel()
		r.at = time.Now()
		r.jobs, r.err = l.list(ctx, namespace)
		if r.err != nil {
			l.forgetRead(namespace)
			return
		}
		time.AfterFunc(fresh, func() { l.forgetRead(namespace) })
	})
	return r, nil
}

func (l *Live) forgetRead(namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.reads, namespace)
}

func (l *Live) list(ctx context.Context, namespace string) ([]*ops.JobInfo, error) {
	o, err := l.o.Ops(ctx, namespace)
	if err != nil {
		return nil, err
	}
	list, err := o.Jobs(ctx, ops.JobsQuery{})
	if err != nil {
		return nil, err
	}
	jobs := make([]*ops.JobInfo, len(list.Jobs))
	for i := range list.Jobs {
		jobs[i] = &list.Jobs[i]
	}
	return jobs, nil
}
