package ops

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// readers is how many nodes are read at a time where those of many jobs are needed.
const readers = 16

// AllSettings goes over the settings of all jobs of the namespace, by name, and reads while it goes: it
// holds a few of them. One that cannot be read is among them, with [Settings.Err]. An error is the last
// that comes, with the zero Settings. Jobs that are JVMOnly are left out: no Go job can have their names. A job that is created or removed meanwhile may come or not.
//
// Errors: those of a read.
func (o *Ops) AllSettings(ctx context.Context) iter.Seq2[Settings, error] {
	return o.settings(ctx, o.wants)
}

func (o *Ops) settings(ctx context.Context, wanted func(job string) bool) iter.Seq2[Settings, error] {
	return func(yield func(Settings, error) bool) {
		names, roots, err := o.listJobs(ctx)
		if err != nil {
			yield(Settings{}, fmt.Errorf("settings: %w", err))
			return
		}
		roots = slices.DeleteFunc(roots, func(n coord.Node) bool { return !wanted(n.Path) })
		names = slices.DeleteFunc(names, func(name jobtree.Job) bool { return !wanted(string(name)) })
		for n, document := range o.each(ctx, names, jobtree.Job.Config) {
			if document.err != nil {
				yield(Settings{}, fmt.Errorf("job %s: settings: %w", names[n], document.err))
				return
			}
			if document.isThere && !yield(settingsOf(names[n], roots[n], document.Node), nil) {
				return
			}
		}
	}
}

// listJobs lists what may be jobs, by name, with their nodes. Not all of them have a configuration.
func (o *Ops) listJobs(ctx context.Context) (names []jobtree.Job, roots []coord.Node, err error) {
	nodes, err := o.reg.List(ctx, "")
	for _, n := range nodes {
		if jobtree.IsName(n.Path) {
			names, roots = append(names, jobtree.Job(n.Path)), append(roots, n)
		}
	}
	return names, roots, err
}

// found is what was found at a path.
type found struct {
	coord.Node
	isThere bool
	err     error
}

// each reads one node of each job, some at a time, and goes over them in the order of the names.
func (o *Ops) each(ctx context.Context, names []jobtree.Job, path func(jobtree.Job) string) iter.Seq2[int, found] {
	return func(yield func(int, found) bool) {
		for begin := 0; begin < len(names); begin += readers {
			some := make([]found, min(readers, len(names)-begin))
			var reads sync.WaitGroup
			for i := range some {
				reads.Go(func() { some[i] = o.find(ctx, path(names[begin+i])) })
			}
			reads.Wait()
			for i := range some {
				if !yield(begin+i, some[i]) {
					return
				}
			}
		}
	}
}

func (o *Ops) find(ctx context.Context, path string) found {
	n, err := o.reg.Get(ctx, path)
	if errors.Is(err, coord.ErrNoNode) {
		return found{}
	}
	return found{n, err == nil, err}
}
