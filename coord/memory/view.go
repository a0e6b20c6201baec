package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// root is where views of one namespace are rooted. Views do not hold copies: one
// that is up to date shows the store's own tree, and one that is not holds on to
// the snapshot that it showed last.
type root struct {
	path    string
	views   int
	touched int64   // the last change (Store.changes) of something within path
	waiting []*view // views that are up to date and were asked for Changed
	lagging map[time.Duration]*lagging
}

// lagging are the views of a root that are late by the same time. They are brought
// up to date together, with what was committed since the first change.
type lagging struct {
	views map[*view]struct{}
	due   *alarm
}

// touch tells the roots at and above a path that something changed there.
func (ns *namespace) touch(path string, change int64) {
	ns.shared = nil
	for {
		if rt := ns.roots[path]; rt != nil && rt.touched != change {
			rt.touched = change
			for i, v := range rt.waiting {
				rt.waiting[i] = nil
				v.waiting = false
				if v.held == nil {
					v.signal()
				}
			}
			rt.waiting = rt.waiting[:0]
			for lag, group := range rt.lagging {
				group.expect(lag)
			}
		}
		if path == "" {
			return
		}
		path = coord.Parent(path)
	}
}

// expect arms the group's alarm. It is owned by the store: the group's views belong
// to several registries.
func (g *lagging) expect(lag time.Duration) {
	if g.due != nil && !g.due.over {
		return
	}
	for v := range g.views {
		s := v.r.store
		g.due = s.arm(&s.alarms, lag, func() {
			for v := range g.views {
				v.hold()
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
	held    *coord.Snapshot // what an outdated view shows; nil if it is up to date
	shown   int64           // root.touched as of held
	lag     time.Duration   // of the group it is in
	changed chan struct{}   // nil if nobody asked since the last change
	waiting bool            // it is on the list of its root
	fault   error
	err     error
}

// View implements [coord.Registry].
func (r *Registry) View(ctx context.Context, path string) (coord.View, error) {
	if err := coord.ValidateRoot(path); err != nil {
		return nil, fmt.Errorf("memory: view: %w", err)
	}
	v := &view{r: r}
	opened := false
	err := r.call(ctx, call{method: OpenView, path: path}, func() error {
		v.root = r.ns.roots[path]
		if v.root == nil {
			v.root = &root{path: path, lagging: map[time.Duration]*lagging{}}
			r.ns.roots[path] = v.root
		}
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

// settle puts the view where the state of its link wants it: up to date, late, or
// standing still. Whatever it can show, it shows.
func (v *view) settle() {
	lag := max(v.r.lag, v.r.delay)
	reachable := v.r.reachable()
	if v.lag > 0 && (v.lag != lag || !reachable) {
		v.leaveGroup()
	}
	switch {
	case !reachable:
		if v.held == nil {
			v.hold()
		}
	case lag > 0:
		if v.lag == 0 {
			v.joinGroup(lag)
		}
	case v.held != nil:
		changed := v.shown != v.root.touched
		v.held = nil
		if changed {
			v.signal()
		} else if v.changed != nil {
			v.wait()
		}
	}
}

// hold makes the view show the present from now on.
func (v *view) hold() {
	snapshot := v.r.ns.snapshot()
	v.held, v.shown = &snapshot, v.root.touched
}

func (v *view) joinGroup(lag time.Duration) {
	if v.held == nil {
		v.hold()
	}
	group := v.root.lagging[lag]
	if group == nil {
		group = &lagging{views: map[*view]struct{}{}}
		v.root.lagging[lag] = group
	}
	group.views[v] = struct{}{}
	v.lag = lag
	if v.shown != v.root.touched {
		group.expect(lag)
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

// signal ends the wait of those who asked for Changed.
func (v *view) signal() {
	if v.changed != nil {
		close(v.changed)
		v.changed = nil
	}
}

// end closes the view; it goes on showing its last state.
func (v *view) end(err error) {
	if v.err != nil {
		return
	}
	if v.held == nil {
		v.hold()
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
		delete(v.r.ns.roots, v.root.path)
	}
}

// Snapshot implements [coord.View].
func (v *view) Snapshot() coord.Snapshot {
	v.r.store.mu.Lock()
	defer v.r.store.mu.Unlock()
	if v.held != nil {
		return v.held.Sub(v.root.path)
	}
	return v.r.ns.snapshot().Sub(v.root.path)
}

// Changed implements [coord.View].
func (v *view) Changed() <-chan struct{} {
	v.r.store.mu.Lock()
	defer v.r.store.mu.Unlock()
	return v.expect()
}

func (v *view) expect() <-chan struct{} {
	if v.err != nil {
		return alreadyClosed()
	}
	if v.changed == nil {
		v.changed = make(chan struct{})
		if v.held == nil {
			v.wait()
		}
	}
	return v.changed
}

// wait puts the view on its root's list.
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
		err, reached := v.err, v.held == nil || v.shown >= change
		var changed <-chan struct{}
		if !reached {
			changed = v.expect()
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
