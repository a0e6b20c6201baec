package etcd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticjob-go/elasticjob/coord"
)

// maxReads is how many ranges one request reads.
const maxReads = maxTxnOps

// readOp reads a range, or the key from if the range has no end.
type readOp struct {
	keyRange
	limit    int64
	keysOnly bool
}

// readMany reads up to maxReads ranges at one revision, 0 for the newest, in one request, and returns the revision.
// Like any other read it is sent again when the connection breaks, which the client does not do for a transaction.
//
// Errors: those of a read; errCompacted; ErrTooLarge.
func (r *Registry) readMany(ctx context.Context, what string, revision int64, reads []readOp) (pages []*clientv3.GetResponse, at int64, err error) {
	ops := make([]clientv3.Op, len(reads))
	for i, read := range reads {
		options := []clientv3.OpOption{clientv3.WithRev(revision), clientv3.WithLimit(read.limit)}
		if read.to != "" {
			options = append(options, clientv3.WithRange(read.to))
		}
		if read.keysOnly {
			options = append(options, clientv3.WithKeysOnly())
		}
		ops[i] = clientv3.OpGet(read.from, options...)
	}
	var answer *clientv3.TxnResponse
	err = r.request(ctx, what, func(ctx context.Context) (err error) {
		backoff := newBackoff()
		for {
			answer, err = r.client.Txn(ctx).Then(ops...).Commit()
			if err == nil || kindOf(err) != coord.ErrUnavailable {
				return err
			}
			if !backoff.Wait(ctx) {
				return ctx.Err()
			}
		}
	})
	if err != nil {
		return nil, 0, err
	}
	for _, response := range answer.Responses {
		pages = append(pages, (*clientv3.GetResponse)(response.GetResponseRange()))
	}
	if revision == 0 {
		revision = answer.Header.Revision
	}
	return pages, revision, nil
}

// GetAll implements [coord.Registry]. It takes a request for each maxReads paths, and another one for those of them
// that nobody wrote.
func (r *Registry) GetAll(ctx context.Context, paths []string) iter.Seq2[coord.Node, error] {
	return func(yield func(coord.Node, error) bool) {
		for left, most := paths, maxReads; len(left) > 0; {
			some := left[:min(len(left), most)]
			found, err := r.getMany(ctx, some)
			// The answer may be too large, or one node that may not be read the reason for which all are refused.
			if (errors.Is(err, coord.ErrTooLarge) || errors.Is(err, coord.ErrDenied)) && len(some) > 1 {
				most = max(1, len(some)/pageShrink)
				continue
			}
			for _, path := range some {
				n, ok := found[path]
				missing := err
				if invalid := coord.ValidatePath(path); invalid != nil {
					missing = fmt.Errorf("etcd: get: %w", invalid)
				} else if err == nil && !ok {
					missing = fmt.Errorf("etcd: get %s: %w", path, coord.ErrNoNode)
				}
				if !yield(n, missing) {
					return
				}
			}
			left, most = left[len(some):], min(maxReads, 2*most)
		}
	}
}

// getMany reads up to maxReads nodes, by their paths. One that is not there is left out, as is an invalid path.
func (r *Registry) getMany(ctx context.Context, paths []string) (map[string]coord.Node, error) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return coord.ValidatePath(path) != nil })
	if len(paths) == 0 {
		return nil, nil
	}
	what := fmt.Sprintf("get %s and %d more", paths[0], len(paths)-1)
	reads := make([]readOp, len(paths))
	for i, path := range paths {
		reads[i] = readOp{keyRange: keyRange{from: r.keys.key(path)}}
	}
	for {
		found := make(map[string]coord.Node, len(paths))
		var unwritten []string
		var below []readOp
		pages, at, err := r.readMany(ctx, what, 0, reads)
		for i, p := range pages {
			if len(p.Kvs) > 0 {
				found[paths[i]] = newNode(paths[i], p.Kvs[0])
				continue
			}
			unwritten, below = append(unwritten, paths[i]), append(below, readOp{r.keys.below(paths[i]), 1, true})
		}
		if len(below) > 0 {
			// At the same revision: otherwise a node that is created in between is missed.
			pages, _, err = r.readMany(ctx, what, at, below)
			for i, p := range pages {
				if len(p.Kvs) > 0 {
					found[unwritten[i]] = coord.Node{Path: unwritten[i]}
				}
			}
		}
		if !errors.Is(err, errCompacted) {
			return found, err
		}
	}
}
