package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
)

type scanOptions struct {
	revision int64 // 0 is the newest
	limit    int64 // keys in the first page; 0 is firstPage
	keysOnly bool
	page     *clientv3.GetResponse // the first page, if it was read already, with firstPage keys at most
}

// Sizes of pages, in keys. The first page shows how large the values are. The next ones are
// cut so that they have about pageBytes.
const (
	firstPage  = 256
	pageGrowth = 64
	pageBytes  = 4 << 20
	maxPage    = 20_000
	// maxAnswer bounds an answer of the store in bytes: the client refuses a larger one before it receives it. etcd has no
	// pages of so many bytes, and a few large values may stand behind many small ones. Such a page is read again with
	// fewer keys.
	maxAnswer  = 16 << 20
	pageShrink = 8
)

// stopScan sorts after all keys of a namespace.
const stopScan = "\xff"

// scan reads a range in order, page by page at one revision, which it returns. It calls
// visit for each key. visit returns the key at which to go on: "" is the next one, a later
// key skips those before it, and stopScan skips all.
//
// Errors: those of a read; errCompacted.
func (r *Registry) scan(ctx context.Context, what string, keys keyRange, o scanOptions, visit func(*mvccpb.KeyValue) string) (int64, error) {
	limit := o.limit
	if limit == 0 {
		limit = firstPage
	}
	revision := o.revision
	for from := keys.from; ; {
		page := o.page
		if o.page = nil; page == nil {
			options := []clientv3.OpOption{clientv3.WithRange(keys.to), clientv3.WithRev(revision), clientv3.WithLimit(limit)}
			if o.keysOnly {
				options = append(options, clientv3.WithKeysOnly())
			}
			var err error
			page, err = r.get(ctx, what, from, options...)
			if limit > 1 && errors.Is(err, coord.ErrTooLarge) {
				limit = max(1, limit/pageShrink)
				continue
			}
			if err != nil {
				return 0, err
			}
		}
		if revision == 0 {
			revision = page.Header.Revision
		}
		skipTo := ""
		for _, kv := range page.Kvs {
			if skipTo != "" && string(kv.Key) < skipTo {
				continue
			}
			if skipTo = visit(kv); skipTo == stopScan {
				return revision, nil
			}
		}
		if !page.More {
			return revision, nil
		}
		last := string(page.Kvs[len(page.Kvs)-1].Key)
		if last < skipTo {
			from, limit = skipTo, firstPage
			continue
		}
		from, limit = last+"\x00", nextLimit(page, limit, pageBytes)
	}
}

// nextLimit returns the limit after a page: as many keys as make some bytes, by the average of the page.
func nextLimit(page *clientv3.GetResponse, limit int64, bytes int) int64 {
	size := 1
	for _, kv := range page.Kvs {
		size += len(kv.Key) + len(kv.Value)
	}
	return min(maxPage, pageGrowth*limit, max(1, int64(bytes)*int64(len(page.Kvs))/int64(size)))
}

// scanTree is scan for a node and everything below it. One request reads the node and the first page below it, which
// mostly is all. The root of the namespace has no key of its own.
func (r *Registry) scanTree(ctx context.Context, what, path string, visit func(*mvccpb.KeyValue) string) (int64, error) {
	below := r.keys.below(path)
	if path == "" {
		return r.scan(ctx, what, below, scanOptions{}, visit)
	}
	limit := int64(firstPage)
	for {
		pages, revision, err := r.readMany(ctx, what, 0, []readOp{{keyRange: keyRange{from: r.keys.key(path)}}, {keyRange: below, limit: limit}})
		if limit > 1 && errors.Is(err, coord.ErrTooLarge) {
			limit = max(1, limit/pageShrink)
			continue
		}
		if err != nil {
			return 0, err
		}
		for _, kv := range pages[0].Kvs {
			if visit(kv) == stopScan {
				return revision, nil
			}
		}
		return r.scan(ctx, what, below, scanOptions{revision: revision, page: pages[1]}, visit)
	}
}

// hasBelow reports whether anything is below a node at a revision, 0 for the newest.
func (r *Registry) hasBelow(ctx context.Context, what, path string, revision int64) (bool, error) {
	found := false
	_, err := r.scan(ctx, what, r.keys.below(path), scanOptions{revision: revision, limit: 1, keysOnly: true}, func(*mvccpb.KeyValue) string {
		found = true
		return stopScan
	})
	return found, err
}
