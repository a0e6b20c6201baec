package zk

import (
	"fmt"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
)

// errPutBack is the cause of the end of a session that a store has forgotten with all
// that was known of it.
var errPutBack = fmt.Errorf("%w: %w", coord.ErrSessionLost, coord.ErrRestored)

// history is what a registry has seen of its store's past, on all its connections. A
// store never goes back, unless it is put back to an earlier state, or is another one:
// then a new era begins, and all that belongs to an earlier one has to go.
type history struct {
	mu sync.Mutex
	moment
}

// moment is a point in a history.
type moment struct {
	era    int
	newest int64 // zxid
}

// now is what has been seen by now.
func (h *history) now() moment {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.moment
}

// saw notes a zxid that a connection of an era has brought.
func (h *history) saw(era int, zxid int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if era == h.era {
		h.newest = max(h.newest, zxid)
	}
}

// went tells what a zxid means that the store surely had after a moment, and the era to
// which it belongs. Of several who find out about the same step back, one begins the era.
func (h *history) went(since moment, zxid int64) (era int, back bool) {
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

// wentBack is for who has other proof than a zxid that the store stepped back since an
// era: the zxid that was seen last is the new era's.
func (h *history) wentBack(since int) (era int, news bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.era == since {
		h.era++
		return h.era, true
	}
	return h.era, false
}
