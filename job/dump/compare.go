package dump

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// look is a view beside what the registry had a moment later, so that the view is never ahead.
type look struct {
	view, store coord.Snapshot
	last        string // if the registry has more than may be read: the last path that was read
}

// lag is the time between the two looks. A view that has not taken in within it what the registry had is wrong, or
// late enough to be told.
const lag = time.Second

// lookAt reads the registry. Without a view, that of the look is what the registry has.
func lookAt(ctx context.Context, reg coord.Registry, job string, view func() coord.Snapshot, most bounds) (l look, err error) {
	if view != nil {
		l.view = view()
	}
	reading, cancel := readingTime(ctx)
	defer cancel()
	l.store, l.last, err = gather(reg.Walk(reading, job), most)
	if view == nil {
		l.view = l.store
	}
	return l, err
}

// isDifferent reports whether the view differs in any node.
func (l look) isDifferent() bool {
	for n := range l.store.Diff(l.view) { // also versions, which do not count
		if l.differs(n.Path) != "" {
			return true
		}
	}
	return false
}

// differs says how the view differs in a node.
func (l look) differs(path string) Difference {
	if l.last != "" && path > l.last { // it was not read
		return ""
	}
	inStore, isInStore := l.store.Get(path)
	inView, isInView := l.view.Get(path)
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

// lasting says how the view differs in a node for as long as the looks are apart: it differed at the look before, and
// has taken in no change since. A node that the view shows at neither look may have come and gone in between, unless
// the registry has the same one at both.
func (l look) lasting(before look, path string) Difference {
	is, isBefore := l.differs(path), before.differs(path)
	has, shows := written(l.view, path)
	had, showed := written(before.view, path)
	if is == "" || isBefore == "" || shows != showed || has.Modified != had.Modified {
		return ""
	}
	inStore, _ := l.store.Get(path)
	wasInStore, _ := before.store.Get(path)
	if !shows && inStore.Modified != wasInStore.Modified {
		return ""
	}
	return is
}

// written returns a node that somebody wrote. That of a parent that nobody wrote has no number.
func written(s coord.Snapshot, path string) (coord.Node, bool) {
	n, ok := s.Get(path)
	return n, ok && n.Modified != 0
}

// nodes lists the nodes of a job that the registry has, and those that only the view has for longer than the looks are
// apart, in the order of a dump.
func (l look) nodes(before look, job string) []Node {
	list := map[string]Node{}
	add := func(path string) {
		for ; path != ""; path = coord.Parent(path) {
			if _, ok := list[path]; ok {
				return
			}
			list[path] = l.node(before, path)
		}
	}
	for n := range l.store.All(job) {
		add(n.Path)
	}
	for n := range l.view.All(job) {
		if l.lasting(before, n.Path) != "" {
			add(n.Path)
		}
	}
	nodes := make([]Node, 0, len(list))
	for _, n := range list {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b Node) int { return descending(a.Path, b.Path) })
	return nodes
}

func (l look) node(before look, path string) Node {
	inStore, _ := l.store.Get(path)
	n := Node{Path: path, Value: string(inStore.Value), Modified: inStore.Modified, Difference: l.lasting(before, path)}
	if inStore.Owner != 0 {
		n.Session = strconv.FormatUint(uint64(inStore.Owner), 16)
	}
	if n.Difference != "" {
		inView, _ := l.view.Get(path)
		n.View = string(inView.Value)
	}
	return n
}
