package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// root is a path that views of one namespace follow, to one depth. Views have no copies of
// the tree: one that is up to date shows the store's own tree, or that of its root, and one
// that is late is pinned to the snapshot that it showed last.
type root struct {
	path    string
	upper   *upper // the upper levels alone; nil if views show the whole subtree
	views   int
	touched int64   // the number (see Store.changes) of the last change that views show
	waiting []*view // views that are up to date and whose Changed was called
	lagging map[time.Duration]*lagging
}

// lagging are the views of a root that have the same lag. An alarm that the first change
// arms brings all of them up to date, with everything that was committed until then.
type lagging struct {
	views map[*view]struct{}
	due   *alarm
}

// touch tells the roots at and above a path that something changed there.
func (ns *namespace) touch(path string, change int64) {
	ns.shared = nil
	for above := path; ; above = coord.Parent(above) {
		for _, rt := range ns.roots[above] {
			if rt.upper.touch(ns, path) && rt.touched != change {
				rt.wake(change)
			}
		}
		if above == "" {
			return
		}
	}
}

// wake tells the views of a root that something changed that they show.
func (rt *root) wake(change int64) {
	rt.touched = change
	for i, v := range rt.waiting {
		rt.waiting[i] = nil
		v.waiting = false
		if v.pinned == nil {
			v.signal()
		}
	}
	rt.waiting = rt.waiting[:0]
	for lag, group := range rt.lagging {
		group.arm(lag)
	}
}

// root returns the root of a path that shows so many levels, and makes it if there is none.
func (ns *namespace) root(path string, depth int) *root {
	for _, rt := range ns.roots[path] {
		if rt.upper.shows(depth) {
			return rt
		}
	}
	rt := &root{path: path, upper: newUpper(ns, path, depth), lagging: map[time.Duration]*lagging{}}
	ns.roots[path] = append(ns.roots[path], rt)
	return rt
}

// leave removes a root that has no views any more.
func (ns *namespace) leave(rt *root) {
	rest := slices.DeleteFunc(ns.roots[rt.path], func(other *root) bool { return other == rt })
	if len(rest) == 0 {
		delete(ns.roots, rt.path)
	} else {
		ns.roots[rt.path] = rest
	}
}

// snapshot returns what a view of the root shows if it is up to date.
func (rt *root) snapshot(ns *namespace) coord.Snapshot {
	if rt.upper != nil {
		return rt.upper.tree.Snapshot()
	}
	return ns.snapshot()
}

// arm arms the group's alarm. The store owns it, because the group's views belong to
// several registries.
func (g *lagging) arm(lag time.Duration) {
	if g.due != nil && !g.due.over {
		return
	}
	for v := range g.views {
		s := v.r.store
		g.due = s.arm(&s.alarms, lag, func() {
			for v := range g.views {
				v.pin()
				v.signal()
			}
		})
		return
	}
}

// view implements [coord.View].
type view struct {
	r       *Registry
	root    *root
	pinned  *coord.Snapshot // what a late view shows; nil if the view is up to date
	shown   int64           // root.touched as of pinned
	lag     time.Duration   // of the group that it is in; 0 for none
	changed chan struct{}   // nil if nobody asked since the last change
	waiting bool            // it is in root.waiting
	fault   error
	err     error
}

// View implements [coord.Registry].
func (r *Registry) View(ctx context.Context, path string) (coord.View, error) {
	return r.view(ctx, path, wholeDepth)
}

// ViewDepth implements [coord.Registry].
func (r *Registry) ViewDepth(ctx context.Context, path string, depth int) (coord.View, error) {
	if err := coord.ValidateDepth(depth); err != nil {
		return nil, fmt.Errorf("memory: view %q: %w", path, err)
	}
	return r.view(ctx, path, depth)
}

func (r *Registry) view(ctx context.Context, path string, depth int) (coord.View, error) {
	if err := coord.ValidateRoot(path); err != nil {
		return nil, fmt.Errorf("memory: view: %w", err)
	}
	v := &view{r: r}
	opened := false
	err := r.call(ctx, call{method: OpenView, path: path}, func() error {
		v.root = r.ns.root(path, depth)
		v.root.views++
		r.views[v] = struct{}{}
		opened = true
		v.settle()
		return nil
	})
	if err != nil {
		if opened {
			v.Close()
		}
		return nil, err
	}
	return v, nil
}

// settle makes the view what the state of its link allows: up to date, late, or without
// any change. What it can show by then it shows.
func (v *view) settle() {
	lag := max(v.r.lag, v.r.delay)
	reachable := v.r.reachable()
	if v.lag > 0 && (v.lag != lag || !reachable) {
		v.leaveGroup()
	}
	switch {
	case !reachable:
		if v.pinned == nil {
			v.pin()
		}
	case lag > 0:
		if v.lag == 0 {
			v.joinGroup(lag)
		}
	case v.pinned != nil:
		changed := v.shown != v.root.touched
		v.pinned = nil
		if changed {
			v.signal()
		} else if v.changed != nil {
			v.wait()
		}
	}
}

// pin makes the view show the present state, until it is pinned again or unpinned.
func (v *view) pin() {
	snapshot := v.root.snapshot(v.r.ns)
	v.pinned, v.shown = &snapshot, v.root.touched
}

func (v *view) joinGroup(lag time.Duration) {
	if v.pinned == nil {
		v.pin()
	}
	group := v.root.lagging[lag]
	if group == nil {
		group = &lagging{views: map[*view]struct{}{}}
		v.root.lagging[lag] = group
	}
	group.views[v] = struct{}{}
	v.lag = lag
	if v.shown != v.root.touched {
		group.arm(lag)
	}
}

func (v *view) leaveGroup() {
	group := v.root.lagging[v.lag]
	delete(group.views, v)
	if len(group.views) == 0 {
		group.due.stop()
		delete(v.root.lagging, v.lag)
	}
	v.lag = 0
}

// signal wakes those who wait for a change.
func (v *view) signal() {
	if v.changed != nil {
		close(v.changed)
		v.changed = nil
	}
}

// end ends the view. It shows its last state from then on.
func (v *view) end(err error) {
	if v.err != nil {
		return
	}
	if v.pinned == nil {
		v.pin()
	}
	if v.lag > 0 {
		v.leaveGroup()
	}
	if v.waiting {
		v.root.waiting = slices.DeleteFunc(v.root.waiting, func(other *view) bool { return other == v })
	}
	v.err = err
	v.signal()
	delete(v.r.views, v)
	if v.root.views--; v.root.views == 0 {
		v.r.ns.leave(v.root)
	}
}

// Snapshot implements [coord.View].
func (v *view) Snapshot() coord.Snapshot {
	v.r.store.mu.Lock()
	defer v.r.store.mu.Unlock()
	if v.pinned != nil {
		return v.pinned.Sub(v.root.path)
	}
	return v.root.snapshot(v.r.ns).Sub(v.root.path)
}

// Changed implements [coord.View].
func (v *view) Changed() <-chan struct{} {
	v.r.store.mu.Lock()
	defer v.r.store.mu.Unlock()
	return v.changedLocked()
}

func (v *view) changedLocked() <-chan struct{} {
	if v.err != nil {
		return alreadyClosed()
	}
	if v.changed == nil {
		v.changed = make(chan struct{})
		if v.pinned == nil {
			v.wait()
		}
	}
	return v.changed
}

// wait adds the view to its root's list of those that want to know of the next change.
func (v *view) wait() {
	if !v.waiting {
		v.waiting = true
		v.root.waiting = append(v.root.waiting, v)
	}
}

func alreadyClosed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// Sync implements [coord.View].
func (v *view) Sync(ctx context.Context) error {
	c := call{method: Sync, path: v.root.path}
	var change int64
	err := v.r.call(ctx, c, func() error {
		change = v.root.touched
		return v.err
	})
	if err != nil {
		return err
	}
	timeout, stop := v.r.requestTimeout()
	defer stop()
	for {
		v.r.store.mu.Lock()
		err, reached := v.err, v.pinned == nil || v.shown >= change
		var changed <-chan struct{}
		if !reached {
			changed = v.changedLocked()
		}
		v.r.store.mu.Unlock()
		if err != nil {
			return fail(c, err)
		}
		if reached {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fail(c, context.Cause(ctx))
		case <-timeout:
			return fail(c, fmt.Errorf("%w: %w", coord.ErrUnavailable, errTimeout))
		}
	}
}

// Fault implements [coord.View].
func (v *view) Fault() error {
	v.r.store.mu.Lock()
	defer v.r.store.mu.Unlock()
	if v.fault == nil && v.err == nil && v.r.outage != nil {
		return v.r.outage
	}
	return v.fault
}

// Err implements [coord.View].
func (v *view) Err() error {
	v.r.store.mu.Lock()
	defer v.r.store.mu.Unlock()
	return v.err
}

// Close implements [coord.View].
func (v *view) Close() {
	v.r.store.mu.Lock()
	defer v.r.store.mu.Unlock()
	v.end(coord.ErrClosed)
}
