package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Limits bound requests. Zero ones have their defaults.
type Limits struct {
	// Requests is how many there may be at the same time, without streams: 512. RequestsOfAddress: 128 of
	// them from one address. Up to 100,000. Requests with a body that need nobody to be logged in, such as log-ins, have
	// places of their own, an eighth and a sixteenth as many: whoever fills them keeps out who has not logged in, and
	// nobody else.
	Requests          int `yaml:"requests"`
	RequestsOfAddress int `yaml:"requestsOfAddress"`
	// Streams is how many streams there may be at the same time: 2,000. StreamsOfAddress: 1,000 of them
	// from one address. Up to 100,000.
	Streams          int `yaml:"streams"`
	StreamsOfAddress int `yaml:"streamsOfAddress"`
	// URL bounds path and query: 8 KiB. Header bounds the headers: 32 KiB. Body bounds the body: 1 MiB. All in
	// bytes. From 256 bytes, and 1 KiB; up to 64 KiB, and a body to 1 MiB.
	URL    int   `yaml:"url"`
	Header int   `yaml:"header"`
	Body   int64 `yaml:"body"`
	// Time bounds a request that is no stream: 30 s. Its answer has to be taken 5 s later. This and what follows: from
	// 1 s to 10 min.
	Time time.Duration `yaml:"time"`
	// BodyTime bounds how long a body may take to come: 15 s; 5 s at most where nobody needs to be logged in.
	BodyTime time.Duration `yaml:"bodyTime"`
	// Write bounds a write of a stream: 10 s.
	Write time.Duration `yaml:"write"`
}

// Validate returns what is wrong, with the field, as a file names it, its value, and what is allowed.
func (l Limits) Validate() error {
	const mostAtOnce, mostText, mostTime = 100_000, 64 << 10, 10 * time.Minute
	return errors.Join(
		within("requests", l.Requests, 1, mostAtOnce), within("requestsOfAddress", l.RequestsOfAddress, 1, mostAtOnce),
		within("streams", l.Streams, 1, mostAtOnce), within("streamsOfAddress", l.StreamsOfAddress, 1, mostAtOnce),
		within("url", l.URL, 256, mostText), within("header", l.Header, 1<<10, mostText), within("body", l.Body, 1<<10, 1<<20),
		within("time", l.Time, time.Second, mostTime), within("bodyTime", l.BodyTime, time.Second, mostTime),
		within("write", l.Write, time.Second, mostTime),
	)
}

func within[T int | int64 | time.Duration](field string, value, least, most T) error {
	if value == 0 || least <= value && value <= most {
		return nil
	}
	return fmt.Errorf("%s: %v; allowed are %v to %v, and 0 for the default", field, value, least, most)
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Requests: cmp.Or(l.Requests, 512), RequestsOfAddress: cmp.Or(l.RequestsOfAddress, 128),
		Streams: cmp.Or(l.Streams, 2000), StreamsOfAddress: cmp.Or(l.StreamsOfAddress, 1000),
		URL: cmp.Or(l.URL, 8<<10), Header: cmp.Or(l.Header, 32<<10), Body: cmp.Or(l.Body, 1<<20),
		Time: cmp.Or(l.Time, 30*time.Second), BodyTime: cmp.Or(l.BodyTime, 15*time.Second), Write: cmp.Or(l.Write, 10*time.Second),
	}
}

// taken is how long after Limits.Time an answer has to be taken.
const taken = 5 * time.Second

// strangerTime bounds how long a body may take to come from who need not be logged in.
const strangerTime = 5 * time.Second

// isFromStranger reports whether anybody can keep a place by a request, in that he sends its body slowly. Without a body
// it is answered at once, and so is one that needs a log-in.
func isFromStranger(asked *route.Route, r *http.Request) bool {
	return asked.Need.Scope <= route.Open && r.ContentLength != 0
}

// enter takes a place for a request. Probes need none.
func (g *Guard) enter(asked *route.Route, a *answer, r *http.Request) (leave func(), err error) {
	p := &g.requests
	switch {
	case asked.Probe:
		return func() {}, nil
	case asked.Stream:
		p = &g.streams
		if g.Closing() {
			err = context.Cause(g.closing)
		}
	case isFromStranger(asked, r):
		p = &g.entrance
	}
	if err == nil {
		leave, err = p.take(network(a.address))
	}
	if err != nil {
		a.Header().Set("Retry-After", "1")
	}
	return leave, err
}

// setDeadlines bounds how long the client may take to send its body, and to take the answer. net/http
// takes these deadlines away after the request.
func (g *Guard) setDeadlines(asked *route.Route, a *answer, r *http.Request) {
	if r.ContentLength != 0 { // without a body, net/http waits for the end of the connection: that must not end early
		most := g.o.Limits.BodyTime
		if isFromStranger(asked, r) {
			most = min(most, strangerTime)
		}
		_ = a.controller.SetReadDeadline(time.Now().Add(most)) // see answer.deadline
	}
	if !a.stream {
		a.deadline(g.o.Limits.Time + taken)
	}
}

// bound gives a request its time.
func (g *Guard) bound(a *answer, r *http.Request) (context.Context, func()) {
	if !a.stream {
		most := g.o.Limits.Time
		return context.WithTimeoutCause(r.Context(), most, fmt.Errorf("not answered within %v: %w", most, context.DeadlineExceeded))
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := context.AfterFunc(g.closing, func() { cancel(context.Cause(g.closing)) })
	return ctx, func() {
		stop()
		cancel(nil)
		a.deadline(a.write) // for what net/http has left to write
	}
}

// places bound how many there may be at the same time.
type places struct {
	all, each int

	mu   sync.Mutex
	used int
	by   map[netip.Prefix]int
	none chan struct{} // closed once none is used; nil if nobody waits
}

// take takes a place for an address. leave gives it back.
func (p *places) take(who netip.Prefix) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.used >= p.all:
		return nil, route.ErrBusy
	case p.by[who] >= p.each:
		return nil, route.ErrOften
	}
	if p.by == nil {
		p.by = map[netip.Prefix]int{}
	}
	p.used++
	p.by[who]++
	return func() { p.give(who) }, nil
}

func (p *places) give(who netip.Prefix) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used--
	if p.by[who]--; p.by[who] == 0 {
		delete(p.by, who)
	}
	if p.used == 0 && p.none != nil {
		close(p.none)
		p.none = nil
	}
}

// wait waits until no place is used.
func (p *places) wait(ctx context.Context) error {
	p.mu.Lock()
	if p.used == 0 {
		p.mu.Unlock()
		return nil
	}
	if p.none == nil {
		p.none = make(chan struct{})
	}
	none, used := p.none, p.used
	p.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d streams have not ended: %w", used, context.Cause(ctx))
	}
}

// network is who counts as one: an IPv4 address, or the 64 bits that a host with IPv6 has to itself.
func network(address netip.Addr) netip.Prefix {
	address = address.Unmap().WithZone("")
	p, _ := address.Prefix(min(address.BitLen(), 64)) // no address at all has the zero prefix
	return p
}

// peer returns the address of the connection's other end; the zero one if it has none.
func peer(r *http.Request) netip.Addr {
	p, _ := netip.ParseAddrPort(r.RemoteAddr) // zero: a connection of another kind
	return p.Addr().Unmap()
}
