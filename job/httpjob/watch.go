package httpjob

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// watch ends a request when the server lets it wait for too long.
type watch struct {
	end   context.CancelCauseFunc
	timer *time.Timer

	mu  sync.Mutex
	why error
}

func watchOver(end context.CancelCauseFunc, d time.Duration, why error) *watch {
	w := &watch{end: end, why: why}
	w.timer = time.AfterFunc(d, w.fire)
	return w
}

func (w *watch) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end(w.why)
}

// expect gives the server a time for what it does next, instead of that for what it has done.
func (w *watch) expect(d time.Duration, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.why = why
	w.timer.Reset(d)
}

func (w *watch) stop() { w.timer.Stop() }

// watchedBody is the body of an answer, read under a watch.
type watchedBody struct {
	body           io.Reader
	watch          *watch
	silence, whole time.Duration
	until          time.Time
}

func (b *watchedBody) Read(p []byte) (int, error) {
	if rest := time.Until(b.until); rest < b.silence {
		b.watch.expect(rest, errSlow(b.whole))
	} else {
		b.watch.expect(b.silence, errSilent(b.silence))
	}
	return b.body.Read(p)
}

// timedOut is an error of a time-out. It is no error of the context of the execution, which
// goes on.
type timedOut struct {
	what     string
	d        time.Duration
	property string
}

func (e timedOut) Error() string { return fmt.Sprintf("%s %v (%s)", e.what, e.d, e.property) }

// Timeout makes it a timeout in the sense of net.Error.
func (e timedOut) Timeout() bool { return true }

func errNotConnected(d time.Duration) error {
	return timedOut{"there is no connection after", d, keyConnectTimeout}
}

func errSilent(d time.Duration) error {
	return timedOut{"the server is silent for", d, keyReadTimeout}
}

func errSlow(d time.Duration) error {
	return timedOut{"the answer has no end after", d, keyAnswerTimeout}
}
