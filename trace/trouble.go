package trace

import (
	"errors"
	"log/slog"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
)

// fails notes that the sink has failed, and logs that if it is new.
func (r *Recorder) fails(err error) {
	var stack []slog.Attr
	if p, isPanic := err.(*job.PanicError); isPanic { // errors.As would call methods of err
		stack = append(stack, slog.String("stack", bounded(string(p.Stack))))
	}
	err = textOf(err)
	r.mu.Lock()
	isNew := r.stats.FailingSince.IsZero()
	if isNew {
		r.stats.FailingSince = time.Now()
	}
	r.stats.LastError = err
	queued := r.queue.held
	r.mu.Unlock()
	if isNew {
		r.say(slog.LevelError, "trace: the sink fails; what happens waits for it", append(stack, slog.Any("error", err), slog.Int("queued", queued.all()))...)
	}
}

// works notes that the sink has kept something, and logs that if it has failed before.
func (r *Recorder) works() {
	r.mu.Lock()
	since, queued := r.stats.FailingSince, r.queue.held
	r.stats.FailingSince, r.stats.LastWritten = time.Time{}, time.Now()
	r.mu.Unlock()
	if !since.IsZero() {
		r.say(slog.LevelInfo, "trace: the sink works again", slog.Duration("failed", time.Since(since)), slog.Int("queued", queued.all()))
	}
}

// textOf returns an error that has the text of another one, which is the user's: its methods
// may panic.
func textOf(err error) (out error) {
	out = errors.New("trace: the sink's error has no text: its method Error panics")
	defer func() { _ = recover() }() // the text says that it panicked
	return brief.Error(err)
}

// drops is what the log knows of things that are dropped.
type drops struct {
	known Count     // how many there were at the last look
	since time.Time // when they began; zero if nothing is dropped now
	from  Count     // how many there were before
}

// tellDrops logs that things begin to be dropped, and that it is over: the queue is half empty.
func (r *Recorder) tellDrops() {
	r.mu.Lock()
	dropped, isHalf := r.queue.dropped, r.queue.isHalfEmpty()
	why := r.why(errors.New("the sink is slower than what happens"))
	r.mu.Unlock()
	d := &r.drops
	switch {
	case dropped != d.known && d.since.IsZero():
		d.since, d.from = time.Now(), d.known
		r.say(slog.LevelError, "trace: the queue is full; the oldest events and lines are dropped", slog.Any("error", why))
	case dropped == d.known && isHalf && !d.since.IsZero():
		n := dropped.minus(d.from)
		r.say(slog.LevelWarn, "trace: nothing is dropped any more", slog.Int("events", n.Events), slog.Int("lines", n.Lines), slog.Duration("after", time.Since(d.since)))
		d.since = time.Time{}
	}
	d.known = dropped
}

// say logs a line. The logger is the user's, and may panic.
func (r *Recorder) say(level slog.Level, text string, attributes ...slog.Attr) {
	defer func() { _ = recover() }() // there is nothing left to tell it to
	r.options.Slog.LogAttrs(r.hurry, level, text, attributes...)
}
