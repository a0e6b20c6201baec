package ops

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

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
		names, err := o.listJobs(ctx)
		if err != nil {
			yield(Settings{}, fmt.Errorf("settings: %w", err))
			return
		}
		o.SettingsOf(ctx, slices.DeleteFunc(names, func(name string) bool { return !wanted(name) }))(yield)
	}
}

// SettingsOf is AllSettings for some jobs, in their order, in few requests. One that is not there is left out.
func (o *Ops) SettingsOf(ctx context.Context, names []string) iter.Seq2[Settings, error] {
	return func(yield func(Settings, error) bool) {
		names := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return o.Job(name).check() != nil })
		paths := make([]string, 0, 2*len(names))
		for _, name := range names {
			paths = append(paths, jobtree.Job(name).Root(), jobtree.Job(name).Config())
		}
		var root coord.Node
		read := 0
		for n, err := range o.reg.GetAll(ctx, paths) {
			name, isRoot := names[read/2], read%2 == 0
			read++
			switch {
			case err != nil && !errors.Is(err, coord.ErrNoNode):
				yield(Settings{}, fmt.Errorf("job %s: settings: %w", brief.Text(name), err))
				return
			case isRoot:
				root = n
			case err == nil && !yield(settingsOf(jobtree.Job(name), root, n), nil):
				return
			}
		}
	}
}

// listJobs lists the names of what may be jobs, ascending. Not all of them have a configuration.
func (o *Ops) listJobs(ctx context.Context) (names []string, err error) {
	nodes, err := o.reg.List(ctx, "")
	for _, n := range nodes {
		if jobtree.IsName(n.Path) {
			names = append(names, n.Path)
		}
	}
	return names, err
}

// nodes reads some nodes, in the order of the paths. One that is not there is the zero Node.
func (o *Ops) nodes(ctx context.Context, paths ...string) (list []coord.Node, err error) {
	for n, err := range o.reg.GetAll(ctx, paths) {
		if err != nil && !errors.Is(err, coord.ErrNoNode) {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}
