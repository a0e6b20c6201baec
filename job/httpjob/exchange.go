package httpjob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/httpx"
	"github.com/elasticjob-go/elasticjob/job"
)

// exchange sends the messages of an execution.
type exchange struct {
	*settings
	values    *filler
	transport http.RoundTripper
}

// answer is what a server has answered.
type answer struct {
	code       int
	body       []byte // its beginning, without secrets
	from       *url.URL
	location   string
	retryAfter time.Duration // 0: it does not say
}

// problem says in words what has come of a message. Neither an answer nor an error of once
// shows secrets.
func problem(a *answer, err error) string {
	if err == nil {
		err = a.statusError()
	}
	return err.Error()
}

// Bounds of an answer. What comes after the first part is read and dropped, so that the
// connection can be kept; what comes after the second part is not read.
const (
	maxKept    = job.MaxOutput
	maxDropped = 256 << 10
)

// lost is why there is no answer.
type lost struct {
	error
	// sent is whether the server may have got the request.
	sent bool
}

func (e *lost) Unwrap() error { return e.error }

// once sends a message, and reads the answer. Neither this nor the error shows secrets.
func (x *exchange) once(ctx context.Context, m *message) (*answer, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	w := watchOver(end, x.link.connect, errNotConnected(x.link.connect))
	defer w.stop()
	sent := false
	trace := &httptrace.ClientTrace{ // these are called by this goroutine
		GetConn: func(string) { w.expect(x.link.connect, errNotConnected(x.link.connect)) },
		GotConn: func(httptrace.GotConnInfo) {
			sent = true
			w.expect(x.read, errSilent(x.read))
		},
	}
	fail := func(err error) (*answer, error) {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, &lost{brief.Error(x.values.Error(withoutURL(err))), sent}
	}
	request, err := m.request(httptrace.WithClientTrace(ctx, trace))
	if err != nil {
		return fail(err)
	}
	client := http.Client{Transport: x.transport, CheckRedirect: m.redirect(x.redirects)}
	response, err := client.Do(request)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = response.Body.Close() }() // all that counts was read
	a := &answer{code: response.StatusCode, from: response.Request.URL, location: response.Header.Get("Location"), retryAfter: httpx.RetryAfter(response.Header)}
	if a.body, err = x.readBody(response.Body, w); err != nil {
		return fail(fmt.Errorf("the answer breaks off: %w", err))
	}
	return a, nil
}

// readBody reads the body of an answer, and returns its beginning without secrets.
func (x *exchange) readBody(body io.Reader, w *watch) ([]byte, error) {
	watched := &watchedBody{body: body, watch: w, silence: x.read, whole: x.answer, until: time.Now().Add(x.answer)}
	most := maxKept + x.values.Longest()
	var start bytes.Buffer
	if _, err := start.ReadFrom(io.LimitReader(watched, int64(most))); err != nil {
		return nil, err
	}
	isWhole := start.Len() < most
	if !isWhole {
		if _, err := io.CopyN(io.Discard, watched, maxDropped); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	return x.values.hideIn(start.Bytes(), isWhole), nil
}
