package etcd

import (
	"sync/atomic"

	"github.com/elasticjob-go/elasticjob/coord"
)

// sizes counts requests by how many commits they had.
type sizes [maxMembers + 1]atomic.Int64

// CommitStats returns how many commits went together since the registry was opened, and how
// many wait now.
func (r *Registry) CommitStats() coord.CommitStats {
	c := &r.committer
	stats := coord.CommitStats{Groups: make([]int64, len(c.sizes))}
	for n := range c.sizes {
		stats.Groups[n] = c.sizes[n].Load()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	stats.Waiting = c.waiting.len
	return stats
}
