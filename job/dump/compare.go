package dump

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/rest"
)

// comparison holds a view beside what the registry has. The tree moves while it is read, so the
// view is looked at before and after.
type comparison struct {
	job    string
	before coord.Snapshot // the view before the registry was read
	store  coord.Snapshot
	last   string         // if it was cut: the last path that was read
	view   coord.Snapshot // the view at the first look after that
	lasts  map[string]bool
}

// pauses are those between the looks at the view. A difference lasts if it is there after all of them.
var pauses = [...]time.Duration{50 * time.Millisecond, 250 * time.Millisecond, 700 * time.Millisecond}

// settle finds out which differences last.
func (c *comparison) settle(ctx context.Context, reg coord.Registry, look func() coord.Snapshot) error {
	c.view = look()
	now, open := c.view, c.differing()
	for _, pause := range pauses {
		open = slices.DeleteFunc(open, func(path string) bool { return caughtUp(path, c.before, c.store, now) })
		if len(open) == 0 {
			return nil
		}
		if !rest.For(ctx, pause) {
			return context.Cause(ctx)
		}
		now = look()
	}
	c.lasts = map[string]bool{}
	for _, path := range open {
		c.lasts[path] = !caughtUp(path, c.before, c.store, now)
	}
	c.askAgain(ctx, reg, now)
	return nil
}

// differing lists the nodes in which the view differs.
func (c *comparison) differing() (paths []string) {
	for n := range c.store.Diff(c.view) { // also versions, which do not count
		if c.differs(n.Path) != "" {
			paths = append(paths, n.Path)
		}
	}
	return paths
}

// differs says how the view differs in a node.
func (c *comparison) differs(path string) Difference {
	if c.last != "" && path > c.last { // it was not read
		return ""
	}
	inStore, isInStore := c.store.Get(path)
	inView, isInView := c.view.Get(path)
	switch {
	case isInStore && isInView && !same(inStore, inView):
		return Other
	case isInStore && !isInView:
		return OnlyInStore
	case !isInStore && isInView:
		return OnlyInView
	}
	return ""
}

func same(a, b coord.Node) bool { return a.Owner == b.Owner && bytes.Equal(a.Value, b.Value) }

// caughtUp reports whether a view has, since the registry was read, taken in what that node was
// there. It may have moved on since. It is sure only of what it confirms: a node that the view
// has never shown may be one that came and went meanwhile, or one that the view does not see.
func caughtUp(path string, before, store, now coord.Snapshot) bool {
	was, wasThere := written(before, path)
	want, isThere := written(store, path)
	has, shows := written(now, path)
	switch {
	case !isThere: // the view lags only if it has shown it ever since
		return !shows || !wasThere || has.Modified != was.Modified
	case !shows:
		return wasThere && was.Modified >= want.Modified
	}
	return has.Modified > want.Modified || has.Modified == want.Modified && same(has, want)
}

// written returns a node that somebody wrote. That of a parent that nobody wrote has no number.
func written(s coord.Snapshot, path string) (coord.Node, bool) {
	n, ok := s.Get(path)
	return n, ok && n.Modified != 0
}

// askedOnce is how many nodes are asked for one by one.
const askedOnce = 100

// askAgain asks the registry for the nodes that the view has never shown, and takes those back
// that are no more as they were. If it does not answer, they are left as they are.
func (c *comparison) askAgain(ctx context.Context, reg coord.Registry, now coord.Snapshot) {
	var unseen []string
	for path, lasts := range c.lasts {
		_, isThere := written(c.store, path)
		if _, shows := written(now, path); lasts && isThere && !shows {
			unseen = append(unseen, path)
		}
	}
	if len(unseen) == 0 {
		return
	}
	get := func(path string) (coord.Node, bool, error) {
		n, err := reg.Get(ctx, path)
		return n, err == nil, err
	}
	if len(unseen) > askedOnce {
		again, _, err := gather(reg.Walk(ctx, c.job), bounds{MaxNodes, MaxBytes})
		if err != nil {
			return
		}
		get = func(path string) (coord.Node, bool, error) {
			n, ok := again.Get(path)
			return n, ok, nil
		}
	}
	for _, path := range unseen {
		n, ok, err := get(path)
		if err != nil && !errors.Is(err, coord.ErrNoNode) {
			return
		}
		was, _ := c.store.Get(path)
		c.lasts[path] = ok && n.Modified == was.Modified
	}
}

// nodes lists all nodes of a job, of both sides, in the order of a dump.
func (c *comparison) nodes() []Node {
	isThere := map[string]bool{}
	add := func(path string) {
		for ; path != "" && !isThere[path]; path = coord.Parent(path) {
			isThere[path] = true
		}
	}
	for n := range c.store.All(c.job) {
		add(n.Path)
	}
	for n := range c.view.All(c.job) {
		if c.last == "" || n.Path <= c.last {
			add(n.Path)
		}
	}
	list := make([]Node, 0, len(isThere))
	for path := range isThere {
		list = append(list, c.node(path))
	}
	slices.SortFunc(list, func(a, b Node) int { return descending(a.Path, b.Path) })
	return list
}

func (c *comparison) node(path string) Node {
	inStore, _ := c.store.Get(path)
	n := Node{Path: path, Value: string(inStore.Value), Modified: inStore.Modified, Difference: c.differs(path)}
	if inStore.Owner != 0 {
		n.Session = strconv.FormatUint(uint64(inStore.Owner), 16)
	}
	if n.Difference != "" {
		inView, _ := c.view.Get(path)
		n.View, n.InFlight = string(inView.Value), !c.lasts[path]
	}
	return n
}
