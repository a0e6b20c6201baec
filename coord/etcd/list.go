package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
)

// List implements [coord.Registry]. Below each child there may be any number of keys, and a list reads hardly any of
// them: it jumps from a child to the key after everything below it. Since one jump at a time would take one request
// for each child, the range is cut into sections, and a request reads the next child of each.
func (r *Registry) List(ctx context.Context, path string) ([]coord.Node, error) {
	if err := coord.ValidateRoot(path); err != nil {
		return nil, fmt.Errorf("etcd: list: %w", err)
	}
	for {
		nodes, err := r.list(ctx, path)
		if !errors.Is(err, errCompacted) {
			return nodes, err
		}
	}
}

func (r *Registry) list(ctx context.Context, path string) ([]coord.Node, error) {
	what := fmt.Sprintf("list %q", path)
	below := r.keys.below(path)
	l := listing{keys: r.keys, parent: below.from}
	revision := int64(0)
	for left, most := []readOp{{keyRange: below, limit: firstPage}}, maxReads; len(left) > 0; {
		some := left[:min(len(left), most)]
		pages, at, err := r.readMany(ctx, what, revision, some)
		if errors.Is(err, coord.ErrTooLarge) && (len(some) > 1 || some[0].limit > 1) {
			most = max(1, len(some)/pageShrink)
			for i := range some {
				some[i].limit = max(1, some[i].limit/pageShrink)
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		rest := slices.Clone(left[len(some):])
		for i, page := range pages {
			if next, limit := l.take(page, some[i].limit, len(some)); page.More && next < some[i].to {
				rest = append(rest, readOp{keyRange: keyRange{next, some[i].to}, limit: limit})
			}
		}
		revision, left, most = at, cut(rest, len(l.nodes), len(l.parent)), min(maxReads, 2*most)
	}
	if len(l.nodes) == 0 && path != "" {
		read, err := r.get(ctx, what, r.keys.key(path), clientv3.WithRev(revision), clientv3.WithKeysOnly())
		if err != nil {
			return nil, err
		}
		if len(read.Kvs) == 0 {
			return nil, fmt.Errorf("etcd: %s: %w", what, coord.ErrNoNode)
		}
	}
	return inOrder(l.nodes), nil
}

// afterJump is how many keys are read after a jump: that of the child and the first below it, at which the list jumps again.
const afterJump = 2

// listing is what a list has found.
type listing struct {
	keys   keyspace
	parent string // the prefix of the keys of all children
	nodes  []coord.Node
}

// take takes in a page that came with others. It returns the key at which the section goes on, and how many keys to read
// there: afterJump if the page ends in a jump.
func (l *listing) take(page *clientv3.GetResponse, limit int64, together int) (next string, _ int64) {
	for _, kv := range page.Kvs {
		if string(kv.Key) >= next {
			next = l.visit(kv)
		}
	}
	if len(page.Kvs) > 0 && string(page.Kvs[len(page.Kvs)-1].Key)+"\x00" < next {
		return next, afterJump
	}
	return next, nextLimit(page, limit, pageBytes/together)
}

// visit takes in a key, and returns the next one that may belong to another child.
func (l *listing) visit(kv *mvccpb.KeyValue) (next string) {
	path, ok := l.keys.path(kv.Key)
	if !ok {
		return l.keys.prefix + afterSlash // skip the keys of sessions
	}
	start := len(l.parent) - len(l.keys.prefix)
	end := strings.IndexByte(path[start:], '/')
	if end < 0 {
		l.nodes = append(l.nodes, newNode(path, kv))
		return string(kv.Key) + "\x00"
	}
	child := path[:start+end]
	l.nodes = append(l.nodes, coord.Node{Path: child}) // a parent; inOrder drops this if the child was written too
	return l.keys.below(child).to
}

// cut cuts the sections that are read in jumps, until there are as many as one request reads. If many children were found it
// makes more: etcd counts all keys of a section that it reads, so many children would cost it a square. All keys begin with a prefix.
func cut(sections []readOp, found, prefix int) (smaller []readOp) {
	pieces := max(maxReads, found/16)
	for _, s := range sections {
		if s.limit <= afterJump {
			for _, point := range points(s.keyRange, prefix, pieces/len(sections)-1) {
				smaller = append(smaller, readOp{keyRange: keyRange{s.from, point}, limit: s.limit})
				s.from = point
			}
		}
		smaller = append(smaller, s)
	}
	return smaller
}

// points returns up to most keys within a range, ascending. Names often differ in a few characters only. So each point
// differs from the range's begin in one character, and those come first that are the first to differ.
func points(keys keyRange, prefix, most int) (list []string) {
	for i := range len(keys.from) {
		if i < prefix || strings.HasPrefix(keys.to, keys.from[:i+1]) {
			continue // all keys of the range have this character
		}
		for step := 1; int(keys.from[i])+step < 0x80; step *= 2 { // names are hardly ever beyond ASCII
			if point := keys.from[:i] + string(rune(int(keys.from[i])+step)); point < keys.to && len(list) < most {
				list = append(list, point)
			}
		}
	}
	slices.Sort(list)
	return list
}

// inOrder sorts the children of a node by name, and keeps one entry for each. Keys are in
// another order: the child a! stands between a and what lies below a.
func inOrder(nodes []coord.Node) []coord.Node {
	slices.SortFunc(nodes, func(a, b coord.Node) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), -cmp.Compare(a.Created, b.Created))
	})
	return slices.CompactFunc(nodes, func(a, b coord.Node) bool { return a.Path == b.Path })
}
