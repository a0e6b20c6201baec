package zk

import (
	"fmt"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
)

// errRestored is the cause of the end of a session whose store was put back.
var errRestored = fmt.Errorf("%w: %w", coord.ErrSessionLost, coord.ErrRestored)

// history is the newest zxid that a registry has seen, on all its connections. A store's
// zxids only grow. If one goes back, the store was put back to an earlier state, or is
// another one. Then a new era begins, and everything that belongs to an earlier era has to
// go.
type history struct {
	mu sync.Mutex
	moment
}

// moment is a point in a history.
type moment struct {
	era    int
	newest int64 // zxid
}

// now is what has been seen up to now.
func (h *history) now() moment {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.moment
}

// saw notes a zxid that was seen on a connection of an era.
func (h *history) saw(era int, zxid int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if era == h.era {
		h.newest = max(h.newest, zxid)
	}
}

// judge gets a zxid that the store certainly had later than a moment. It returns the era to
// which that zxid belongs, and whether it has begun that era because the store went back. If
// several find the same step back, only the first begins the era.
func (h *history) judge(since moment, zxid int64) (era int, begun bool) {
	if zxid >= since.newest {
		return since.era, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.era == since.era {
		h.moment = moment{era: h.era + 1, newest: zxid}
		return h.era, true
	}
	return h.era, false
}

// stepBack is called with other proof than a zxid that the store went back in an era. It
// returns the era now, and whether it has begun that. The newest zxid then counts for the
// new era.
func (h *history) stepBack(since int) (era int, begun bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.era == since {
		h.era++
		return h.era, true
	}
	return h.era, false
}
