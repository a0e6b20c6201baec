package alert

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/job"
)

// handler sends what is to be said of one job. A goroutine does that, which exists only while
// there is something to send.
type handler struct {
	job, host string
	sender    Sender
	sending   chan struct{} // that of the type
	attempts  int
	log       *slog.Logger
	counts    *Counts

	mu     sync.Mutex
	waits  aggregate
	worker *worker // nil if nothing waits
	// flushed is set by Flush: all that waits is due.
	flushed bool
	trouble seldom
	// underWay is how much the message tells that is being sent; counted is what counts has of
	// this handler, and over is set when it has none any more.
	underWay, counted int
	over              bool
}

// worker is the goroutine that sends.
type worker struct {
	cancel context.CancelFunc
	// wake tells it that something else may be due.
	wake chan struct{}
	// hurry is closed by Flush.
	hurry chan struct{}
	done  chan struct{}
}

// HandleError puts a failure into the message that tells of it. It does not wait for anything.
func (h *handler) HandleError(_ context.Context, sc job.ShardingContext, err error) {
	text := textOf(err)
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waits.failed(now, text, sc) {
		h.wakeWorker()
	}
	h.count()
}

// HandleSuccess ends the failures in a row of an item.
func (h *handler) HandleSuccess(_ context.Context, sc job.ShardingContext) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waits.succeeded(now, sc) {
		h.wakeWorker()
	}
	h.count()
}

// wakeWorker lets the goroutine look at what waits. h.mu is locked.
func (h *handler) wakeWorker() {
	if h.worker != nil {
		select {
		case h.worker.wake <- struct{}{}:
		default: // it is to look anyhow
		}
		return
	}
	if h.flushed {
		return // nobody would wait for it
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &worker{cancel, make(chan struct{}, 1), make(chan struct{}), make(chan struct{})}
	h.worker = w
	go h.work(ctx, w)
}

// Flush sends what waits, whether it is due or not. When ctx ends, it gives up what is left.
func (h *handler) Flush(ctx context.Context) error {
	h.mu.Lock()
	w := h.worker
	if w != nil && !h.flushed {
		close(w.hurry)
	}
	h.flushed = true
	h.waits.standing.stop()
	h.mu.Unlock()
	if w != nil {
		select {
		case <-w.done:
		case <-ctx.Done():
			w.cancel()
			<-w.done
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.count()
	untold := h.waits.waiting() + h.waits.unsent
	if untold == 0 {
		return nil
	}
	err := fmt.Errorf("alert: job %s: no message has told of %d failures or recoveries", brief.Text(h.job), untold)
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", err, context.Cause(ctx))
	}
	return err
}

// work sends until nothing waits.
func (h *handler) work(ctx context.Context, w *worker) {
	defer close(w.done)
	defer w.cancel()
	for {
		m, due, ok := h.next(ctx)
		if ok {
			h.told(ctx, m, h.send(ctx, w, m))
			continue
		}
		if due.IsZero() {
			return
		}
		timer := time.NewTimer(time.Until(due))
		select {
		case <-timer.C:
		case <-w.wake:
		case <-w.hurry:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// next takes the next message. If nothing waits, or ctx has ended, the worker is not the
// handler's any more.
func (h *handler) next(ctx context.Context) (Message, time.Time, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		h.worker = nil
		return Message{}, time.Time{}, false
	}
	m, due, ok := h.waits.next(time.Now(), h.flushed)
	if !ok && due.IsZero() {
		h.worker = nil
	}
	if ok {
		h.underWay = m.Count
	}
	m.Job, m.Host = h.job, h.host
	return m, due, ok
}

// send tries until the message was sent, or there is no hope.
func (h *handler) send(ctx context.Context, w *worker, m Message) error {
	backoff := sleep.Backoff{Min: firstBackoff, Max: maxBackoff}
	for attempt := 1; ; attempt++ {
		err := h.attempt(ctx, m)
		if err == nil || isPermanent(err) || attempt == h.attempts || ctx.Err() != nil {
			return err
		}
		h.rest(ctx, w, pauseAfter(err, backoff.Next()))
	}
}

// attempt sends a message once, when the type sends few others.
func (h *handler) attempt(ctx context.Context, m Message) error {
	select {
	case h.sending <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.sending }()
	return try(ctx, h.sender, m)
}

// rest waits before the next attempt. Flush ends the wait that is under way, and no other, so
// that each attempt has a back-off but one.
func (h *handler) rest(ctx context.Context, w *worker, d time.Duration) {
	hurry := w.hurry
	select {
	case <-hurry:
		hurry = nil
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-hurry:
	case <-ctx.Done():
	}
}

// told keeps what has become of a message.
func (h *handler) told(ctx context.Context, m Message, err error) {
	if unsent, say := h.account(m, err); say && ctx.Err() == nil {
		h.log.Error("an alert was not sent", slog.Bool("recovery", m.Recovered), slog.Int("count", m.Count), slog.Int("unsent", unsent), slog.Any("error", brief.Error(err)))
	}
}

// account counts what was sent, and what was not. It reports whether the log is to say so.
func (h *handler) account(m Message, err error) (unsent int, say bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := &h.waits
	h.underWay = 0
	h.count()
	if err == nil {
		h.counts.sent.Add(1)
		a.unsent -= m.Unsent
		h.trouble = seldom{}
		return a.unsent, false
	}
	h.counts.failed.Add(1)
	a.unsent += m.Count
	return a.unsent, h.trouble.may(time.Now())
}
