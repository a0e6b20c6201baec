package guard

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Options say what a guard does.
type Options struct {
	// Limits bound requests. Zero ones have defaults.
	Limits Limits
	// Hosts are the names that clients may have for the console (header Host), without a port. Empty: any.
	Hosts []string
	// Origins are those of pages that may change something, beside the console's own: https://host:port.
	// A proxy that replaces the header Host needs that.
	Origins []string
	// Secure is whether browsers come by TLS, although the last proxy does not.
	Secure bool
	// Address returns where a request is from. Default: the peer.
	Address func(*http.Request) netip.Addr
	// Metrics count the requests.
	Metrics *Metrics
	// Log gets a line for each request.
	Log *slog.Logger
}

// Guard is what all requests go through.
type Guard struct {
	table    *route.Table
	o        Options
	origins  *http.CrossOriginProtection
	hosts    map[string]bool
	requests places
	entrance places // of requests with a body that need nobody to be logged in
	streams  places
	warned   atomic.Int64    // when a proxy was last warned of, in ns
	closing  context.Context // its cause ends all streams
	close    context.CancelCauseFunc
}

// New returns a guard around a table, which has its Who and Fail already.
//
// Errors: one that says which limit or origin is wrong.
func New(table *route.Table, o Options) (*Guard, error) {
	if err := o.Limits.Validate(); err != nil {
		return nil, fmt.Errorf("option Limits: %w", err)
	}
	o.Limits = o.Limits.withDefaults()
	if o.Address == nil {
		o.Address = peer
	}
	g := &Guard{
		table: table, o: o, origins: http.NewCrossOriginProtection(), hosts: map[string]bool{},
		requests: places{all: o.Limits.Requests, each: o.Limits.RequestsOfAddress},
		entrance: places{all: max(1, o.Limits.Requests/8), each: max(1, o.Limits.RequestsOfAddress/16)},
		streams:  places{all: o.Limits.Streams, each: o.Limits.StreamsOfAddress},
	}
	for _, origin := range o.Origins {
		if err := g.origins.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("option Origins: %w", err)
		}
	}
	for _, host := range o.Hosts {
		g.hosts[canonicalHost(host)] = true
	}
	g.closing, g.close = context.WithCancelCause(context.Background())
	table.Who = noting(table.Who)
	return g, nil
}

// noting is who that tells the answer of a request what it has found out.
func noting(who func(*http.Request) (*access.Principal, error)) func(*http.Request) (*access.Principal, error) {
	return func(r *http.Request) (*access.Principal, error) {
		p, err := who(r)
		a, ok := r.Context().Value(answerKey{}).(*answer)
		if ok && p != nil {
			a.user = p.Name
		}
		if limit, isLimit := errors.AsType[*access.LimitError](err); ok && isLimit {
			a.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(limit.After.Seconds()))))
		}
		if ok && errors.Is(err, access.ErrBusy) {
			a.Header().Set("Retry-After", "1")
		}
		return p, err
	}
}

// Close ends all streams, lets none begin, and waits for them as long as ctx allows. Other requests go on:
// the server waits for them.
func (g *Guard) Close(ctx context.Context) error {
	g.close(route.ErrClosed)
	return g.streams.wait(ctx)
}

// Closing reports whether Close was called.
func (g *Guard) Closing() bool { return g.closing.Err() != nil }

// ServeHTTP answers a request.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	asked := cmp.Or(g.table.Find(r), &route.Route{Fail: g.table.Fail})
	a := &answer{
		ResponseWriter: w, controller: http.NewResponseController(w), stream: asked.Stream, write: g.o.Limits.Write,
		id: rand.Text(), address: g.o.Address(r),
	}
	g.setHeaders(a, r)
	g.setDeadlines(asked, a, r)
	g.warnOfProxy(a, r)
	g.o.Metrics.begin(asked)
	defer func() {
		g.o.Metrics.end(asked, a.code(), time.Since(began))
		g.log(asked, a, r, time.Since(began))
	}()
	defer func() {
		if cause := recover(); cause != nil && !g.recovers(cause, asked, a, r) {
			panic(http.ErrAbortHandler) // net/http ends the connection: the client must not take a part for the whole
		}
	}()
	leave, err := g.enter(asked, a, r)
	if err == nil {
		defer leave()
		err = g.check(asked, r)
	}
	if err != nil {
		a.refused = err.Error()
		asked.Fail(a, r, err)
		return
	}
	ctx, end := g.bound(a, r)
	defer end()
	r = r.WithContext(context.WithValue(ctx, answerKey{}, a))
	r.Body = http.MaxBytesReader(w, r.Body, g.o.Limits.Body)
	g.table.ServeHTTP(a, r)
}

// warnOfProxy tells, once an hour, that a proxy says where clients are, and nobody has said that it is trusted.
func (g *Guard) warnOfProxy(a *answer, r *http.Request) {
	if r.Header.Get("X-Forwarded-For") == "" || a.address != peer(r) {
		return
	}
	now, last := time.Now(), g.warned.Load()
	if last == 0 || now.Sub(time.Unix(0, last)) >= time.Hour {
		if g.warned.CompareAndSwap(last, now.UnixNano()) {
			g.o.Log.Warn("console: X-Forwarded-For is not believed: proxy.from does not have the address that it comes from, so all who come through it count as one", "address", a.address.String())
		}
	}
}

// recovers answers for a handler that has panicked. It cannot if the answer has begun, and must not if the
// handler wants no answer.
func (g *Guard) recovers(cause any, asked *route.Route, a *answer, r *http.Request) bool {
	isWanted := cause == any(http.ErrAbortHandler)
	if !isWanted {
		g.o.Log.Error("console: a handler has panicked", "request", a.id, "route", asked.Pattern,
			"panic", brief.Text(fmt.Sprint(cause)), "stack", brief.Cut(string(debug.Stack()), maxStack))
	}
	if isWanted || a.status != 0 {
		return false
	}
	clear(a.Header()) // those of what is not answered
	g.setHeaders(a, r)
	asked.Fail(a, r, route.ErrPanic)
	return true
}

// maxStack bounds a stack in the log, in bytes.
const maxStack = 16 << 10

// log tells of a request.
func (g *Guard) log(asked *route.Route, a *answer, r *http.Request, took time.Duration) {
	level := slog.LevelInfo
	switch {
	case a.code() >= http.StatusInternalServerError:
		level = slog.LevelWarn
	case asked.Probe:
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("method", brief.Cut(r.Method, maxMethod)), slog.String("path", brief.Cut(r.URL.EscapedPath(), maxPath)),
		slog.String("route", asked.Pattern), slog.Int("status", a.code()), slog.Duration("took", took),
		slog.Int64("bytes", a.bytes), slog.String("user", a.user), slog.String("address", a.address.String()), slog.String("request", a.id),
	}
	if a.refused != "" {
		attrs = append(attrs, slog.String("refused", a.refused))
	}
	g.o.Log.LogAttrs(r.Context(), level, "console: request", attrs...)
}

// What the log shows of a request at most, in bytes.
const (
	maxMethod = 16
	maxPath   = 300
)
