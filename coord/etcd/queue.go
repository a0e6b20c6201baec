package etcd

import "github.com/elasticjob-go/elasticjob/coord"

// queue holds the commits that wait until they are sent: for each urgency a list in the
// order of arrival. The zero value is empty.
type queue struct {
	lists    [coord.Soonest + 1]struct{ first, last *pending }
	arrivals uint64
	len      int
}

func (q *queue) push(p *pending) {
	q.arrivals++
	q.len++
	p.arrival, p.waits = q.arrivals, true
	list := &q.lists[p.urgency]
	p.before, p.after = list.last, nil
	if list.last == nil {
		list.first = p
	} else {
		list.last.after = p
	}
	list.last = p
}

// remove takes a commit out. It reports false if it was not in the queue any more.
func (q *queue) remove(p *pending) bool {
	if !p.waits {
		return false
	}
	list := &q.lists[p.urgency]
	if p.before == nil {
		list.first = p.after
	} else {
		p.before.after = p.after
	}
	if p.after == nil {
		list.last = p.before
	} else {
		p.after.before = p.before
	}
	p.waits, p.before, p.after = false, nil, nil
	q.len--
	return true
}

// oldest is the commit that came first of all, nil if the queue is empty.
func (q *queue) oldest() *pending {
	var oldest *pending
	for _, list := range q.lists {
		if p := list.first; p != nil && (oldest == nil || p.arrival < oldest.arrival) {
			oldest = p
		}
	}
	return oldest
}

// each calls look for each commit, the most urgent ones first and those in the order of
// their arrival, until it returns false. look may remove the commit that it is called for.
func (q *queue) each(look func(*pending) bool) {
	for urgency := coord.Soonest; urgency >= coord.Usual; urgency-- {
		for p := q.lists[urgency].first; p != nil; {
			after := p.after
			if !look(p) {
				return
			}
			p = after
		}
	}
}
