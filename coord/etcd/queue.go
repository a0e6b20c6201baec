package etcd

import (
	"container/list"

	"github.com/elasticjob-go/elasticjob/internal/urgency"
)

// queue holds the commits that wait until they are sent: for each urgency a list in the
// order of arrival. The zero value is empty.
type queue struct {
	lists    [urgency.Soonest + 1]list.List // of *pending
	arrivals uint64
	len      int
}

func (q *queue) push(p *pending) {
	q.arrivals++
	q.len++
	p.arrival, p.place = q.arrivals, q.lists[p.urgency].PushBack(p)
}

// remove takes a commit out. It reports false if it was not in the queue any more.
func (q *queue) remove(p *pending) bool {
	if p.place == nil {
		return false
	}
	q.lists[p.urgency].Remove(p.place)
	p.place = nil
	q.len--
	return true
}

// oldest is the commit that came first of all, nil if the queue is empty.
func (q *queue) oldest() *pending {
	var oldest *pending
	for i := range q.lists {
		if first := q.lists[i].Front(); first != nil {
			if p := first.Value.(*pending); oldest == nil || p.arrival < oldest.arrival {
				oldest = p
			}
		}
	}
	return oldest
}

// each calls look for each commit, the most urgent ones first and those in the order of
// their arrival, until it returns false. look may remove the commit that it is called for.
func (q *queue) each(look func(*pending) bool) {
	for level := urgency.Soonest; level >= urgency.Usual; level-- {
		for at := q.lists[level].Front(); at != nil; {
			next := at.Next()
			if !look(at.Value.(*pending)) {
				return
			}
			at = next
		}
	}
}
