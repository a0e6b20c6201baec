package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

type scanOptions struct {
	revision int64 // 0 is the newest
	limit    int64 // keys in the first page; 0 is firstPage
	keysOnly bool
}

// The first page finds out how large the values are, and the next ones are cut to fit.
const (
	firstPage  = 256
	pageGrowth = 64
	pageBytes  = 4 << 20
	maxPage    = 20_000
	skipPage   = 16     // after a skip there may be another
	stopScan   = "\xff" // after all keys of a namespace
)

// scan reads a range in order, page by page at one revision, which it returns. visit is
// given each key, and returns where to go on: "" means at the next key, and another key
// skips all up to it.
//
// Errors: those of a read; errForgotten.
func (r *Registry) scan(ctx context.Context, what string, keys keyRange, o scanOptions, visit func(*mvccpb.KeyValue) string) (int64, error) {
	limit := o.limit
	if limit == 0 {
		limit = firstPage
	}
	revision := o.revision
	for from := keys.from; ; {
		var page *clientv3.GetResponse
		err := r.request(ctx, what, func(ctx context.Context) (err error) {
			options := []clientv3.OpOption{clientv3.WithRange(keys.to), clientv3.WithRev(revision), clientv3.WithLimit(limit)}
			if o.keysOnly {
				options = append(options, clientv3.WithKeysOnly())
			}
			page, err = r.client.Get(ctx, from, options...)
			return err
		})
		if err != nil {
			return 0, err
		}
		if revision == 0 {
			revision = page.Header.Revision
		}
		skipTo, size := "", 0
		for _, kv := range page.Kvs {
			size += len(kv.Key) + len(kv.Value)
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
			from, limit = skipTo, skipPage
			continue
		}
		from = last + "\x00"
		limit = min(maxPage, pageGrowth*limit, max(1, pageBytes*int64(len(page.Kvs))/int64(size)))
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
