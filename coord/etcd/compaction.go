package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// A store that compacts its history keeps some hours of it. A store probably does not
// compact at all if it still has more revisions than a busy cluster writes in that time,
// or if it still has its first revision although it is no longer young. In the end its
// database is full, and it takes no writes any more.
const (
	muchHistory   = 1_000_000
	youngRevision = 20_000
)

// oldRevision returns a revision that a store which compacts no longer has; ok is false if
// the store is too young to tell.
func oldRevision(newest int64) (revision int64, ok bool) {
	return max(1, newest-muchHistory), newest >= youngRevision
}

// warnOfHistory checks once whether the store seems to keep its whole history.
func (r *Registry) warnOfHistory() {
	old, ok := oldRevision(r.identity.now().revision)
	if !ok {
		return
	}
	switch err := r.readOld(r.ctx, old); {
	case err == nil:
		r.log.Warn("this etcd server seems to keep its whole history: without compaction its database grows until it takes no writes; see --auto-compaction-retention",
			zap.Int64("still_has_revision", old), zap.Int64("newest_revision", r.identity.now().revision))
	case !errors.Is(err, errCompacted):
		r.log.Debug("cannot check whether the server compacts its history", zap.Error(err))
	}
}

// readOld reads at a revision. It returns errCompacted if the store has dropped it.
func (r *Registry) readOld(ctx context.Context, revision int64) error {
	_, err := r.get(ctx, "look for an old revision", r.keys.prefix, clientv3.WithCountOnly(), clientv3.WithRev(revision))
	return err
}
