package health

import (
	"runtime/debug"
	"sync"

	"go.uber.org/zap"
)

// Guard keeps the panics of functions that the program has given, and that only look on, from harming anything. It logs
// them, at a limited rate. Any goroutine may use it.
type Guard struct {
	log *zap.Logger

	mu     sync.Mutex
	limits map[string]*RateLimit // by what went wrong: few texts of the scheduler
}

// NewGuard returns a guard that logs.
func NewGuard(log *zap.Logger) *Guard { return &Guard{log: log, limits: map[string]*RateLimit{}} }

// Catch is to be deferred around a call of such a function; what names it.
func (g *Guard) Catch(what string) {
	if v := recover(); v != nil {
		g.Report(what+" panicked", zap.Any("panic", v), zap.ByteString("stack", debug.Stack()))
	}
}

// Report logs what such a function has done wrong.
func (g *Guard) Report(what string, about ...zap.Field) {
	g.mu.Lock()
	limit := g.limits[what]
	if limit == nil {
		limit = &RateLimit{}
		g.limits[what] = limit
	}
	n := limit.Add(1)
	g.mu.Unlock()
	if n > 0 {
		g.log.Error(what, append(about, zap.Int("times", n))...)
	}
}
