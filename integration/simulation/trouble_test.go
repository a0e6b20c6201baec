package simulation

import (
	"sync"
	"time"
)

// trouble remembers until when something was wrong. Troubles may overlap.
type trouble struct {
	mu    sync.Mutex
	open  int
	until time.Time
}

func (t *trouble) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open++
}

func (t *trouble) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open--
	t.until = time.Now()
}

// since reports whether anything was wrong at that time or later.
func (t *trouble) since(at time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open > 0 || !t.until.Before(at)
}
