//go:build wallstep

package worker

import "time"

// setClock sets how wrong the wall clock of the whole process is.
func (w *worker) setClock(offset time.Duration) { time.SetWallStep(offset) }
