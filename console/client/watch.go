package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Update is what has changed of the jobs of a namespace.
type Update struct {
	// Reset is whether all that was known is to be forgotten: Jobs are the first of those that there are.
	Reset bool `json:"-"`
	// Jobs are those that are new or have changed, and Removed the names of those that are gone.
	Jobs    []ops.JobInfo `json:"jobs,omitempty"`
	Removed []string      `json:"removed,omitempty"`
	// More is whether the rest of the same comes at once.
	More bool `json:"more,omitempty"`
	// Fault says why what is known may be incomplete or old: the store, or the console, is away. Empty when
	// that is over. An update has either a fault that is new or over, or jobs.
	Fault string `json:"-"`
	// FaultSince is since when what is known may be old; zero if it is only incomplete.
	FaultSince time.Time `json:"-"`
}

// JobUpdate is all of a job, or a fault.
type JobUpdate struct {
	Job        *JobView // nil if only the fault has changed
	Fault      string   // as that of Update
	FaultSince time.Time
}

// ErrRemoved: the job that was watched, or the namespace, is gone.
var ErrRemoved = errors.New("client: it was removed")

// Watch tells what changes of the jobs that the caller may see, beginning with all of them. It connects again by
// itself, and goes on where it was, until ctx ends, the loop does, or the caller may not watch any more. An error is the
// last that comes.
//
// Errors: *Error (ErrNotLoggedIn, ErrDenied, ErrNoNamespace); ErrRemoved; the cause of ctx.
func (n *Namespace) Watch(ctx context.Context) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		w := &watch{c: n.c, call: call{method: http.MethodGet, path: "/namespaces/%s/watch", names: []any{n.name}}}
		err := w.run(ctx, func(e event) bool {
			u := Update{Reset: e.name == "reset", Fault: e.fault, FaultSince: e.since}
			if !w.read(e, &u, "reset", "update") {
				return true
			}
			return yield(u, nil)
		})
		if err != nil {
			yield(Update{}, err)
		}
	}
}

// Watch tells how the job is whenever that has changed. It is like that of a namespace.
//
// Errors: those of Namespace.Watch; ops.ErrNoJob.
func (j *Job) Watch(ctx context.Context) iter.Seq2[JobUpdate, error] {
	return func(yield func(JobUpdate, error) bool) {
		w := &watch{c: j.n.c, call: call{method: http.MethodGet, path: "/namespaces/%s/jobs/%s/watch", names: []any{j.n.name, j.name}}}
		err := w.run(ctx, func(e event) bool {
			u := JobUpdate{Fault: e.fault, FaultSince: e.since}
			var d JobView
			if !w.read(e, &d, "job") {
				return true
			}
			if e.name == "job" {
				u.Job = &d
			}
			return yield(u, nil)
		})
		if err != nil {
			yield(JobUpdate{}, err)
		}
	}
}

// event is one of a stream.
type event struct {
	name, id string
	data     []byte
	fault    string // of a fault: what the console says, or why it is away
	since    time.Time
}

// Bounds of a watch.
const (
	maxEvent   = 32 << 20         // bytes of a line
	silence    = 45 * time.Second // a beat comes every 5 s
	firstAgain = 500 * time.Millisecond
	lastAgain  = 15 * time.Second
)

// errEnded: the loop of the caller has ended.
var errEnded = errors.New("ended")

// watch is a stream of events over any number of connections.
type watch struct {
	c     *Client
	call  call
	last  string // id of the last event
	fault string // as it was told last
	since time.Time
	bad   error // an event cannot be read
}

// run tells of each event, until tell returns false or there is nothing more to come.
func (w *watch) run(ctx context.Context, tell func(event) bool) error {
	r, err := w.c.request(ctx, w.call)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/event-stream")
	backoff := sleep.Backoff{Min: firstAgain, Max: lastAgain}
	for {
		begun := time.Now()
		err := w.listen(ctx, r, tell)
		switch {
		case errors.Is(err, errEnded):
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("client: watch: %w", context.Cause(ctx))
		case errors.Is(err, ErrRemoved), w.bad != nil, errors.Is(err, errAnswer):
			return err
		}
		answer, isAnswer := errors.AsType[*Error](err)
		if isAnswer && !mayHelp(err) {
			return err
		}
		if time.Since(begun) > silence {
			backoff.Reset() // it went well for a while
		}
		if w.fault == "" && !w.note(fmt.Sprintf("the console is away: %v", err), time.Now().Round(0), tell) {
			return nil
		}
		wait := backoff.Next()
		if isAnswer {
			wait = max(wait, min(answer.RetryAfter, lastPause))
		}
		sleep.For(ctx, wait) // the end of ctx is seen next
	}
}

// note tells of a fault if it is new, or over.
func (w *watch) note(fault string, since time.Time, tell func(event) bool) bool {
	if fault == w.fault && since.Equal(w.since) {
		return true
	}
	w.fault, w.since = fault, since
	return tell(event{name: "fault", fault: fault, since: since})
}

// listen reads the events of one connection.
func (w *watch) listen(ctx context.Context, r *http.Request, tell func(event) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence, func() { cancel(fmt.Errorf("nothing has come for %v", silence)) })
	defer quiet.Stop()
	r = r.Clone(ctx)
	if w.last != "" {
		r.Header.Set("Last-Event-ID", w.last)
	}
	answer, err := w.c.stream(r, w.call)
	if err != nil {
		return cmpCause(ctx, err)
	}
	defer answer.Close()
	lines := bufio.NewScanner(answer)
	lines.Buffer(nil, maxEvent)
	isFirst := true
	for e := (event{}); lines.Scan(); {
		quiet.Reset(silence)
		if len(lines.Bytes()) > 0 {
			e.take(lines.Bytes())
			continue
		}
		done := e
		if e = (event{}); done.name == "" {
			continue
		}
		if isFirst {
			isFirst = false
			if done.name != "fault" && done.name != "bye" && !w.note("", time.Time{}, tell) {
				return errEnded
			}
		}
		if err := w.hear(done, tell); err != nil {
			return err
		}
	}
	return cmpCause(ctx, errors.Join(lines.Err(), io.ErrUnexpectedEOF))
}

// cmpCause returns why a context has ended, or else the error.
func cmpCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// take takes in a line of an event.
func (e *event) take(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "id":
		e.id = string(value)
	case "data":
		e.data = append(e.data, value...)
	}
}

// hear tells of an event.
func (w *watch) hear(e event, tell func(event) bool) error {
	var said struct {
		Fault, Code, Reason string
		Since               time.Time
	}
	switch e.name {
	case "fault", "bye":
		if err := json.Unmarshal(e.data, &said); err != nil {
			return fmt.Errorf("client: watch: %s: %w: %w", e.name, errAnswer, err)
		}
	}
	switch e.name {
	case "fault":
		if !w.note(said.Fault, said.Since, tell) {
			return errEnded
		}
		return nil
	case "bye":
		if said.Code == "removed" {
			return fmt.Errorf("%w: %.500s", ErrRemoved, said.Reason)
		}
		return fmt.Errorf("%.500s", said.Reason) // closing, denied: the next attempt tells
	}
	if e.id != "" {
		w.last = e.id
	}
	e.fault, e.since = w.fault, w.since
	if !tell(e) {
		return errEnded
	}
	return w.bad
}

// read reads the data of an event of certain names. It reports whether the caller is to be told.
func (w *watch) read(e event, out any, names ...string) bool {
	if e.name == "fault" {
		return true
	}
	for _, name := range names {
		if e.name != name {
			continue
		}
		if err := w.c.decode(e.data, out); err != nil {
			w.bad = fmt.Errorf("client: watch: %s: %w: %w", name, errAnswer, err)
			return false
		}
		return true
	}
	return false // of a later version
}
