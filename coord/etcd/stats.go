package etcd

import "sync/atomic"

// sizes counts requests by the number of their commits.
type sizes [maxMembers + 1]atomic.Int64

// CommitGroups implements [coord.Inspector].
func (r *Registry) CommitGroups() (requests []int64, waiting int) {
	c := &r.committer
	requests = make([]int64, len(c.sizes))
	for n := range c.sizes {
		requests[n] = c.sizes[n].Load()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return requests, c.waiting.len
}
