package exec

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
)

// flushTime bounds how long error handlers may take to do what they have put off.
const flushTime = 30 * time.Second

// Flusher has error handlers finish what they have put off, when others have taken their place
// and no execution uses them any more. It belongs to the goroutine of the job's loop.
type Flusher struct {
	log     *zap.Logger
	inUse   func(*ErrorHandlers) bool // reports whether an execution or a call still uses them
	retired []*ErrorHandlers          // those that are in use

	flushes sync.WaitGroup
	ctx     context.Context // of all flushes
	end     context.CancelFunc
}

// NewFlusher returns a flusher. FlushAll has to be called in the end.
func NewFlusher(log *zap.Logger, inUse func(*ErrorHandlers) bool) *Flusher {
	f := &Flusher{log: log, inUse: inUse}
	f.ctx, f.end = context.WithCancel(context.Background())
	return f
}

// Retire has error handlers flushed as soon as nothing uses them.
func (f *Flusher) Retire(e *ErrorHandlers) {
	f.retired = append(f.retired, e)
	f.FlushUnused()
}

// FlushUnused flushes the retired error handlers that nothing uses any more.
func (f *Flusher) FlushUnused() {
	f.retired = slices.DeleteFunc(f.retired, func(e *ErrorHandlers) bool {
		if f.inUse(e) {
			return false
		}
		f.flushes.Go(func() {
			ctx, cancel := context.WithTimeout(f.ctx, flushTime)
			defer cancel()
			e.Flush(ctx)
		})
		return true
	})
}

// FlushAll flushes all error handlers when the scheduler ends, the last ones too. They have flushTime, but only
// GraceTime once stopping has ended. Those that do not return then are left behind.
func (f *Flusher) FlushAll(stopping context.Context, last *ErrorHandlers) {
	deadline := time.AfterFunc(flushTime, f.end)
	defer deadline.Stop()
	detach := context.AfterFunc(stopping, func() { deadline.Reset(GraceTime) })
	defer detach()
	for _, e := range append(f.retired, last) {
		f.flushes.Go(func() { e.Flush(f.ctx) })
	}
	done := make(chan struct{})
	go func() {
		f.flushes.Wait()
		close(done)
	}()
	defer f.end()
	select {
	case <-done:
		return
	case <-f.ctx.Done():
	}
	grace := time.NewTimer(GraceTime)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
		f.log.Error("error handlers do not return from Flush although its context has ended")
	}
}
