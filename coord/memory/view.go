package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
)

// root holds the views of one path and depth. They have no trees of their own: a view that is up to
// date shows the store's tree, or the upper levels that the root has of it, and a view that lags is
// pinned to the snapshot that it showed last.
type root struct {
	path       string
	upper      *upper // the upper levels alone; nil if views show the whole subtree
	views      int
	lastChange int64   // the number (see Store.changes) of the last change within path and depth
	waiting    []*view // views that are up to date and whose Changed was called
	lagging    map[time.Duration]*lagGroup
}

// lagGroup holds the views of a root that have the same lag. The first change arms an alarm, which
// pins all of them to the newest snapshot.
type lagGroup struct {
	views map[*view]struct{}
	due   *alarm
}

// notifyViews tells the views that show a path that it was written or removed by the change with this
// number.
func (ns *namespace) notifyViews(path string, change int64) {
	ns.shared = nil
	for above := path; ; above = coord.Parent(above) {
		for _, rt := range ns.roots[above] {
			if rt.upper.update(ns, path) && rt.lastChange != change {
				rt.notify(change)
			}
		}
		if above == "" {
			return
		}
	}
}

// notify wakes the views of a root for a change that they show; those that lag, after their lag.
func (rt *root) notify(change int64) {
	rt.lastChange = change
	for i, v := range rt.waiting {
		rt.waiting[i] = nil
		v.waiting = false
		if v.pinned == nil {
			v.changed.Fire()
		}
	}
	rt.waiting = rt.waiting[:0]
	for lag, group := range rt.lagging {
		group.arm(lag)
	}
}

// rootFor returns the root of a path and depth, and makes it if there is none.
func (ns *namespace) rootFor(path string, depth int) *root {
	for _, rt := range ns.roots[path] {
		if rt.upper.hasDepth(depth) {
			return rt
		}
	}
	rt := &root{path: path, upper: newUpper(ns, path, depth), lagging: map[time.Duration]*lagGroup{}}
	ns.roots[path] = append(ns.roots[path], rt)
	return rt
}

// removeRoot removes a root without views.
func (ns *namespace) removeRoot(rt *root) {
	rest := slices.DeleteFunc(ns.roots[rt.path], func(other *root) bool { return other == rt })
	if len(rest) == 0 {
		delete(ns.roots, rt.path)
	} else {
		ns.roots[rt.path] = rest
	}
}

// snapshot returns what a view shows that is up to date.
func (rt *root) snapshot(ns *namespace) coord.Snapshot {
	if rt.upper != nil {
		return rt.upper.tree.Snapshot()
	}
	return ns.snapshot()
}

// arm arms the group's alarm. The store owns it, because the group's views belong to
// several registries.
func (g *lagGroup) arm(lag time.Duration) {
	if g.due != nil && !g.due.over {
		return
	}
	for v := range g.views {
		s := v.r.store
		g.due = s.arm(&s.alarms, lag, func() {
			for v := range g.views {
				v.pin()
				v.changed.Fire()
			}
		})
		return
	}
}

// view implements [coord.View].
type view struct {
	r            *Registry
	root         *root
	pinned       *coord.Snapshot // what a late view shows; nil if the view is up to date
	pinnedChange int64           // root.lastChange as of pinned
	lag          time.Duration   // of the group that it is in; 0 for none
	changed      broadcast.Signal
	waiting      bool // it is in root.waiting
	fault        error
	err          error
}

// View implements [coord.Registry]. Its snapshots share their memory with the store, so it leaves nothing out.
func (r *Registry) View(ctx context.Context, path string, depth int, _ ...coord.Bounds) (coord.View, error) {
	if err := cmp.Or(coord.ValidateRoot(path), coord.ValidateDepth(depth)); err != nil {
		return nil, fmt.Errorf("memory: view %q: %w", path, err)
	}
	v := &view{r: r}
	opened := false
	err := r.call(ctx, call{method: OpenView, path: path}, func() error {
		v.root = r.ns.rootFor(path, depth)
		v.root.views++
		r.views[v] = struct{}{}
		opened = true
		v.applyLink()
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

// applyLink applies a change of the link's state to the view: it is up to date, lags, or stands still.
func (v *view) applyLink() {
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
		changed := v.pinnedChange != v.root.lastChange
		v.pinned = nil
		if changed {
			v.changed.Fire()
		} else if v.changed.IsAwaited() {
			v.awaitChange()
		}
	}
}

// pin makes the view show the present state until it is pinned again or unpinned.
func (v *view) pin() {
	snapshot := v.root.snapshot(v.r.ns)
	v.pinned, v.pinnedChange = &snapshot, v.root.lastChange
}

func (v *view) joinGroup(lag time.Duration) {
	if v.pinned == nil {
		v.pin()
	}
	group := v.root.lagging[lag]
	if group == nil {
		group = &lagGroup{views: map[*view]struct{}{}}
		v.root.lagging[lag] = group
	}
	group.views[v] = struct{}{}
	v.lag = lag
	if v.pinnedChange != v.root.lastChange {
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

// end ends the view, which keeps its last state.
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
	v.changed.Close()
	delete(v.r.views, v)
	if v.root.views--; v.root.views == 0 {
		v.r.ns.removeRoot(v.root)
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
	if v.err == nil && v.pinned == nil && !v.changed.IsAwaited() {
		v.awaitChange()
	}
	return v.changed.Next()
}

// awaitChange makes the root notify the view of the next change.
func (v *view) awaitChange() {
	if !v.waiting {
		v.waiting = true
		v.root.waiting = append(v.root.waiting, v)
	}
}

// Sync implements [coord.View].
func (v *view) Sync(ctx context.Context) error {
	c := call{method: Sync, path: v.root.path}
	var change int64
	err := v.r.call(ctx, c, func() error {
		change = v.root.lastChange
		return v.err
	})
	if err != nil {
		return err
	}
	timeout, stop := v.r.requestTimeout()
	defer stop()
	for {
		v.r.store.mu.Lock()
		err, reached := v.err, v.pinned == nil || v.pinnedChange >= change
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
