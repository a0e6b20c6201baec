package prom

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/coord"
)

// registry is a registry that is measured.
type registry struct {
	coord.Registry
	m   *Metrics
	lag lag

	mu      sync.Mutex
	session coord.Session // the newest that somebody has asked for; nil if nobody has
}

// Registry returns a registry that does the same, and is measured. Give it to the nodes in place
// of the other; Close closes that. The metrics show the last registry that was given.
func (m *Metrics) Registry(reg coord.Registry) coord.Registry {
	r := &registry{Registry: reg, m: m, lag: lag{seconds: m.lag, views: map[string]*view{}}}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.store = r
	return r
}

// done counts a call.
func (r *registry) done(ctx context.Context, operation string, begun time.Time, err error) {
	r.m.requests.WithLabelValues(operation, resultOf(ctx, err)).Inc()
	r.m.requestTime.WithLabelValues(operation).Observe(time.Since(begun).Seconds())
}

// kind is an error with the word that a label has for it.
type kind struct {
	is   error
	word string
}

// resultOf is the kind of an error, "ok" for none. If it has none, and ctx has ended, it is the
// cause of that.
func resultOf(ctx context.Context, err error) string {
	if err == nil {
		return "ok"
	}
	word := wordOf(err, []kind{
		{coord.ErrConflict, "conflict"},
		{coord.ErrNoNode, "no_node"},
		{coord.ErrUnknownOutcome, "unknown_outcome"},
		{coord.ErrSessionLost, "session_lost"},
		{coord.ErrDenied, "denied"},
		{coord.ErrTooLarge, "too_large"},
		{coord.ErrClosed, "closed"},
		{coord.ErrUnavailable, "unavailable"},
	})
	if word == otherKind && ctx.Err() != nil {
		return "canceled"
	}
	return word
}

// otherKind is the word for kinds that are not known here.
const otherKind = "other"

// reasonOf is the reason of a conflict.
func reasonOf(reason error) string {
	return wordOf(reason, []kind{
		{coord.ErrNoNode, "no_node"},
		{coord.ErrNodeExists, "node_exists"},
		{coord.ErrVersion, "version"},
		{coord.ErrNotOwner, "not_owner"},
		{coord.ErrNotEmpty, "not_empty"},
		{coord.ErrDenied, "denied"},
	})
}

func wordOf(err error, kinds []kind) string {
	for _, k := range kinds {
		if errors.Is(err, k.is) {
			return k.word
		}
	}
	return otherKind
}

func (r *registry) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	begun := time.Now()
	revision, err := r.Registry.Commit(ctx, ops...)
	r.done(ctx, "commit", begun, err)
	if err == nil {
		r.lag.committed(revision, ops)
	} else if conflict, ok := errors.AsType[*coord.ConflictError](err); ok {
		r.m.conflicts.WithLabelValues(reasonOf(conflict.Reason)).Inc()
	}
	return revision, err
}

func (r *registry) Get(ctx context.Context, path string) (coord.Node, error) {
	begun := time.Now()
	n, err := r.Registry.Get(ctx, path)
	r.done(ctx, "get", begun, err)
	return n, err
}

func (r *registry) List(ctx context.Context, path string) ([]coord.Node, error) {
	begun := time.Now()
	nodes, err := r.Registry.List(ctx, path)
	r.done(ctx, "list", begun, err)
	return nodes, err
}

func (r *registry) GetAll(ctx context.Context, paths []string) iter.Seq2[coord.Node, error] {
	return r.counted(ctx, "get_all", r.Registry.GetAll(ctx, paths))
}

func (r *registry) Walk(ctx context.Context, path string) iter.Seq2[coord.Node, error] {
	return r.counted(ctx, "walk", r.Registry.Walk(ctx, path))
}

// counted counts a loop over nodes without the time, which is the caller's for the most part. A node that is not there is
// no failure.
func (r *registry) counted(ctx context.Context, operation string, nodes iter.Seq2[coord.Node, error]) iter.Seq2[coord.Node, error] {
	return func(yield func(coord.Node, error) bool) {
		var failed error
		defer func() { r.m.requests.WithLabelValues(operation, resultOf(ctx, failed)).Inc() }()
		for n, err := range nodes {
			if err != nil && !errors.Is(err, coord.ErrNoNode) {
				failed = err
			}
			if !yield(n, err) {
				return
			}
		}
	}
}

func (r *registry) View(ctx context.Context, path string, depth int, bounds ...coord.Bounds) (coord.View, error) {
	begun := time.Now()
	v, err := r.Registry.View(ctx, path, depth, bounds...)
	r.done(ctx, "view", begun, err)
	if err != nil || depth != coord.AllLevels {
		return v, err
	}
	return r.lag.follow(v, path), nil
}

func (r *registry) Session(ctx context.Context) (coord.Session, error) {
	s, err := r.Registry.Session(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == nil || r.session.ID() != s.ID() && stateOf(r.session) == coord.Lost { // who asked earlier may answer later
		r.session = s
		r.m.sessions.Inc()
	}
	return s, nil
}

func stateOf(s coord.Session) coord.SessionState {
	state, _ := s.State() // nobody waits here for its change
	return state
}

// collectStore shows the registry centre, if there is one to show.
func (m *Metrics) collectStore(to chan<- prometheus.Metric, now time.Time) {
	m.mu.Lock()
	r := m.store
	m.mu.Unlock()
	if r == nil {
		return
	}
	r.mu.Lock()
	session := r.session
	r.mu.Unlock()
	if session != nil {
		state, left := stateOf(session), 0.0
		if state != coord.Lost {
			left = max(session.Deadline().Sub(now), 0).Seconds()
		}
		for _, s := range []coord.SessionState{coord.Connected, coord.Suspended, coord.Lost} {
			gauge(to, m.sessionState, float64(one(s == state)), s.String())
		}
		gauge(to, m.sessionLeft, left)
	}
	if clock := r.Clock(); clock.Known() {
		gauge(to, m.clockAhead, clock.Ahead(now).Seconds())
	}
	if i, ok := r.Registry.(coord.Inspector); ok {
		if groups, waiting := i.CommitGroups(); groups != nil {
			m.collectGroups(to, groups, waiting)
		}
	}
}

// collectGroups shows how many commits went together.
func (m *Metrics) collectGroups(to chan<- prometheus.Metric, groups []int64, waiting int) {
	var requests, commits uint64
	buckets := map[float64]uint64{1: 0, 2: 0, 4: 0, 8: 0, 16: 0, 32: 0}
	for n, count := range groups {
		requests, commits = requests+uint64(count), commits+uint64(n)*uint64(count)
		for most := range buckets {
			if float64(n) <= most {
				buckets[most] += uint64(count)
			}
		}
	}
	to <- prometheus.MustNewConstHistogram(m.groupSize, requests, float64(commits), buckets)
	gauge(to, m.commitsWaiting, float64(waiting))
}
