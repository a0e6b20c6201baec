package live

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// patience is how long an answer waits for a first state, so that what is not there gets a 404. Then it begins without.
const patience = 2 * time.Second

// serve streams what happens at the place of the request.
func (l *Live) serve(w http.ResponseWriter, r *http.Request) {
	at, p := route.At(r.Context()), access.From(r.Context())
	refuse := func(err error) {
		if errors.Is(err, route.ErrBusy) || errors.Is(err, route.ErrOften) || errors.Is(err, route.ErrClosed) {
			w.Header().Set("Retry-After", "10")
		}
		l.o.Fail(w, r, err)
	}
	if p == nil {
		refuse(route.ErrNobody)
		return
	}
	if err := l.enter(p.Name); err != nil {
		refuse(err)
		return
	}
	defer l.leave(p.Name)
	f, err := l.attach(topic{at.Namespace, at.Job})
	if err != nil {
		refuse(err)
		return
	}
	defer l.detach(f)
	if err := f.begun(r.Context(), patience); err != nil {
		refuse(err)
		return
	}
	s := &stream{live: l, feed: f, request: r, name: p.Name, rights: rightsOf(p), w: w, control: http.NewResponseController(w)}
	s.see(p)
	s.reader.patches = r.URL.Query().Get("patches") == "true"
	s.reader.at = l.ids.place(lastEventID(r), s.reader.mark)
	if !s.begin() {
		for _, name := range []string{"Content-Type", "Cache-Control", "X-Accel-Buffering"} {
			w.Header().Del(name)
		}
		refuse(ErrStream)
		return
	}
	if r.Method != http.MethodHead {
		s.run()
	}
}

// lastEventID is the id after which a caller goes on. Browsers send a header when they come again by themselves; a page
// that opens another stream can only write it into the address.
func lastEventID(r *http.Request) string {
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return id
	}
	return r.URL.Query().Get("lastEventId")
}

// stream is one listener.
type stream struct {
	live    *Live
	feed    *feed
	request *http.Request
	name    string
	rights  string
	reader  reader
	w       http.ResponseWriter
	control *http.ResponseController
}

// rightsOf is a text of what a principal may: the same from one log-in to another.
func rightsOf(p *access.Principal) string {
	return fmt.Sprintf("%+v", [][]access.Grant{p.Grants, p.Within})
}

// see has the listener see what a principal may. The mark is of it.
func (s *stream) see(p *access.Principal) {
	t := s.feed.topic
	rights := s.rights
	s.reader.sees = func(job string) bool { return p.May(access.Viewer, t.namespace, job) }
	if t.job != "" || p.MayAll(access.Viewer, t.namespace) {
		rights, s.reader.sees = "", nil
	}
	s.reader.mark = maphash.String(s.feed.seed, rights)
}

// begin sends the head of the answer. It reports false if nothing can be streamed.
func (s *stream) begin() bool {
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")           // nginx would wait for more
	_ = s.control.SetReadDeadline(time.Time{}) // where there are no deadlines, there is none to clear
	return !errors.Is(s.control.Flush(), http.ErrNotSupported)
}

// run tells what happens until the end of the request, of the feed, or of the caller's rights.
func (s *stream) run() {
	beat := time.NewTicker(s.live.o.Heartbeat)
	defer beat.Stop()
	more := make(chan struct{})
	close(more)
	recheck := s.live.o.Changed()
	isThere := s.send([]byte(retryLine)) && s.look() // he was let in some time ago
	for isThere {
		changed, goOn := s.tell()
		switch {
		case !goOn:
			return
		case changed == nil:
			changed = more
		}
		select {
		case <-changed:
		case <-beat.C:
			isThere = s.look() && s.send([]byte(heartbeat))
		case <-recheck:
			recheck = s.live.o.Changed()
			isThere = s.look()
		case <-s.live.ctx.Done():
			s.send(appendBye(nil, codeClosing, route.ErrClosed.Error()))
			return
		case <-s.request.Context().Done():
			if !errors.Is(context.Cause(s.request.Context()), context.Canceled) { // it is not the caller who has gone
				s.send(appendBye(nil, codeClosing, route.ErrClosed.Error()))
			}
			return
		}
	}
}

// tell sends what comes next. If nothing does, it returns what is closed when something may.
func (s *stream) tell() (changed <-chan struct{}, goOn bool) {
	buffer := s.live.buffers.Get().(*[]byte)
	defer s.live.buffers.Put(buffer)
	out, changed, isLast := s.feed.next((*buffer)[:0], &s.reader, s.live.ids)
	*buffer = out
	if len(out) == 0 {
		return changed, true
	}
	return nil, s.send(out) && !isLast
}

// look looks the caller up again. It reports false if he may not listen any more, and tells him.
func (s *stream) look() bool {
	p, err := s.live.o.Who(s.request)
	t := s.feed.topic
	switch {
	case err != nil || p == nil || p.Name != s.name:
		s.send(appendBye(nil, codeDenied, "log in again"))
		return false
	case t.job != "" && !p.May(access.Viewer, t.namespace, t.job) || t.job == "" && !p.MaySome(access.Viewer, t.namespace):
		s.send(appendBye(nil, codeDenied, "you may not see this any more"))
		return false
	case rightsOf(p) != s.rights:
		s.send(appendBye(nil, codeRights, "what you may do has changed: come again"))
		return false
	}
	return true
}

// send writes something, which a listener has to take within some time.
func (s *stream) send(b []byte) bool {
	end := time.Now().Add(s.live.o.WriteTimeout)
	_ = s.control.SetWriteDeadline(end) // where there are none, what is around the handler bounds it
	_, err := s.w.Write(b)
	if err == nil {
		err = s.control.Flush()
	}
	if err == nil {
		_ = s.control.SetWriteDeadline(time.Time{}) // HTTP/2 would end the stream later although nothing is written
		return true
	}
	if !time.Now().Before(end) { // else he has gone
		s.live.cut(s, err)
	}
	return false
}

// cut notes that a listener has not taken what he was sent.
func (l *Live) cut(s *stream, err error) {
	l.mu.Lock()
	l.stats.Cut++
	l.mu.Unlock()
	l.o.Log.Info("a listener took nothing in time, and is cut off", "namespace", s.feed.topic.namespace, "job", s.feed.topic.job, "user", s.name, "error", err)
}
