package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// No server says whether it compacts its history, so that is told from what it still has. Revisions alone do not tell:
// with --auto-compaction-retention=1h a store keeps all of its first hour, and a busy cluster writes some 100,000 in that
// time. So a history counts only if it is long and its database is large, too.
const (
	// muchHistory is how many revisions a store that compacts does not have any more.
	muchHistory = 1_000_000
	// largeDatabase is how many bytes are in use when a history that is kept is worth a warning: an eighth of the quota
	// that etcd has by default, which some 600,000 executions fill.
	largeDatabase = 256 << 20
)

// compacts reports whether the store drops its history, as far as what it still has shows. inUse are the bytes of its
// database.
func (r *Registry) compacts(ctx context.Context, inUse int64) coord.Answer {
	switch err := r.readOld(ctx, oldRevision(r.identity.now().revision)); {
	case errors.Is(err, errCompacted):
		return coord.Yes
	case err == nil && inUse >= largeDatabase:
		return coord.No
	}
	return coord.Unknown
}

// warnOfHistory warns once if the store seems to keep its whole history.
func (r *Registry) warnOfHistory(inUse int64) {
	if inUse >= largeDatabase && r.compacts(r.ctx, inUse) == coord.No {
		r.log.Warn("this etcd server seems to keep its whole history: without compaction its database grows until it takes no writes; see --auto-compaction-retention",
			zap.Int64("bytes_in_use", inUse), zap.Int64("newest_revision", r.identity.now().revision))
	}
}

// oldRevision returns a revision that a store which compacts no longer has.
func oldRevision(newest int64) int64 { return max(1, newest-muchHistory) }

// readOld reads at a revision. It returns errCompacted if the store has dropped it.
func (r *Registry) readOld(ctx context.Context, revision int64) error {
	_, err := r.get(ctx, "look for an old revision", r.keys.prefix, clientv3.WithCountOnly(), clientv3.WithRev(revision))
	return err
}
