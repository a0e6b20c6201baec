//go:build !wallstep

package worker

import "time"

// setClock sets how wrong the clock of the schedulers is. Timers, sessions and the registry go by the
// right one.
func (w *worker) setClock(offset time.Duration) { w.offset.Store(int64(offset)) }
