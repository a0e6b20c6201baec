package zk

import "sync"

// identity tells one store from another by the newest zxid that the registry has seen, on all its
// connections. The zxids of a store only grow. If one goes back, the store was restored to an
// earlier state, or is another one. Then a new incarnation begins, and everything that belongs to
// an earlier incarnation has to go.
type identity struct {
	mu sync.Mutex
	moment
}

// moment is what was known at some time, such as when a connection began.
type moment struct {
	incarnation int
	newest      int64 // zxid
}

// now is what is known now.
func (i *identity) now() moment {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.moment
}

// noteZxid notes a zxid that was seen on a connection of an incarnation.
func (i *identity) noteZxid(incarnation int, zxid int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if incarnation == i.incarnation {
		i.newest = max(i.newest, zxid)
	}
}

// judge gets a zxid that the store certainly had later than a moment. It returns the incarnation to
// which that zxid belongs, and whether it has begun that incarnation because the store was restored. If
// several find the same restore, only the first begins the incarnation.
func (i *identity) judge(since moment, zxid int64) (incarnation int, begun bool) {
	if zxid >= since.newest {
		return since.incarnation, false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.incarnation == since.incarnation {
		i.moment = moment{incarnation: i.incarnation + 1, newest: zxid}
		return i.incarnation, true
	}
	return i.incarnation, false
}

// restored is called with other proof than a zxid that the store was restored since an incarnation
// began. It returns the incarnation now, and whether it has begun that. The newest zxid then counts
// for the new incarnation.
func (i *identity) restored(since int) (incarnation int, begun bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.incarnation == since {
		i.incarnation++
		return i.incarnation, true
	}
	return i.incarnation, false
}
