package job

import (
	"runtime/debug"
	"sync"

	"go.uber.org/zap"
)

// mishaps are what goes wrong in functions of the program that only look on: they harm no
// execution. They are logged, but seldom. Any goroutine may tell them.
type mishaps struct {
	log *zap.Logger

	mu   sync.Mutex
	told map[string]*refrain // by what went wrong: few texts of this package
}

// catch is to be deferred around a call of such a function.
func (m *mishaps) catch(what string) {
	if v := recover(); v != nil {
		m.tell(what+" panicked", zap.Any("panic", v), zap.ByteString("stack", debug.Stack()))
	}
}

func (m *mishaps) tell(what string, about ...zap.Field) {
	m.mu.Lock()
	if m.told[what] == nil {
		put(&m.told, what, &refrain{})
	}
	n := m.told[what].add(1)
	m.mu.Unlock()
	if n > 0 {
		say(func() { m.log.Error(what, append(about, zap.Int("times", n))...) })
	}
}
