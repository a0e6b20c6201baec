package guard

import (
	"net/http"
	"net/netip"
	"time"
)

type answerKey struct{}

// answer is an answer under way, and what the log says of it.
type answer struct {
	http.ResponseWriter
	controller *http.ResponseController
	stream     bool
	write      time.Duration // how long a write of a stream may take

	id, user string
	refused  string // why the guard has not let it through
	address  netip.Addr
	status   int // 0: nothing was answered yet
	bytes    int64
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// code returns the status; that which net/http sends if the handler says none.
func (a *answer) code() int {
	if a.status == 0 {
		return http.StatusOK
	}
	return a.status
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	defer a.hurry()()
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// FlushError is for http.ResponseController.
func (a *answer) FlushError() error {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	defer a.hurry()()
	return a.controller.Flush()
}

// Flush is for those who know http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() } // http.Flusher has no errors: the next write has it

// SetReadDeadline is for http.ResponseController. Limits.BodyTime bounds a body, and no handler but that of a stream does,
// which has none: huma would give each body 5 s.
func (a *answer) SetReadDeadline(t time.Time) error {
	if !a.stream {
		return nil
	}
	return a.controller.SetReadDeadline(t)
}

// hurry sets a deadline for one write of a stream; the function takes it away. One that stayed would end
// an idle stream of HTTP/2.
func (a *answer) hurry() (done func()) {
	if !a.stream {
		return func() {}
	}
	a.deadline(a.write)
	return func() { _ = a.controller.SetWriteDeadline(time.Time{}) } // as in deadline
}

// deadline sets a deadline for writes.
func (a *answer) deadline(in time.Duration) {
	_ = a.controller.SetWriteDeadline(time.Now().Add(in)) // only a writer that is no connection knows none: then nobody waits
}
