package prom_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/coordtest"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/trace/prom"
)

// A registry that is measured keeps the whole contract.
func TestConformance(t *testing.T) {
	t.Parallel()
	coordtest.Run(t, func(t testing.TB) coordtest.Store {
		m, err := prom.New(prom.Options{})
		if err != nil {
			t.Fatal(err)
		}
		store := memory.NewStore(memory.Options{})
		t.Cleanup(store.Close)
		store.Inject(memory.Fault{Method: memory.Open, Registry: "denied", Before: fmt.Errorf("simulated: %w", coord.ErrDenied)})
		store.Inject(memory.Fault{Method: memory.Open, Registry: "nowhere", Before: fmt.Errorf("%w: simulated:0 does not listen", coord.ErrUnavailable)})
		return measured{store, m}
	})
}

// measured is the store of the suite.
type measured struct {
	store *memory.Store
	m     *prom.Metrics
}

func (s measured) Dial(ctx context.Context, o coordtest.Options) (coord.Registry, coordtest.Link, error) {
	c := memory.Config{Namespace: o.Namespace, SessionTimeout: o.SessionTimeout}
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 2 * time.Second
	}
	switch {
	case o.Nowhere:
		c.Name = "nowhere"
	case o.Credentials == coordtest.WrongPassword || o.Credentials == coordtest.UntrustedTLS:
		c.Name = "denied"
	}
	r, err := s.store.Dial(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	return s.m.Registry(r), link{r.Link()}, nil
}

// link is a link on which nothing comes that was not asked for, and a black hole holds back what is
// sent into it.
type link struct{ *memory.Link }

func (l link) Pause()        { l.BlackHole() }
func (l link) DropRequests() { l.BlackHole() }

func (s measured) Forget(context.Context) error { return nil }

func (s measured) Expire(_ context.Context, id coord.SessionID) error {
	if !s.store.Expire(id) {
		return fmt.Errorf("no session %d", id)
	}
	return nil
}

func (s measured) Sessions(context.Context) (int, error) { return s.store.Sessions(), nil }
func (s measured) Watches(context.Context) (int, error)  { return s.store.Watches(), nil }

func TestCallsAreCounted(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		p := f.dial("a", prom.Options{})
		reg := p.metrics.Registry(p.reg)
		ctx := t.Context()
		call := func(want error, call func() error) {
			t.Helper()
			if err := call(); !errors.Is(err, want) {
				t.Errorf("the error is %v, want %v", err, want)
			}
		}
		commit := func(ops ...coord.Op) func() error {
			return func() error { _, err := reg.Commit(ctx, ops...); return err }
		}
		get := func() error { _, err := reg.Get(ctx, "a"); return err }
		call(nil, commit(coord.Create("a", nil)))
		call(coord.ErrNodeExists, commit(coord.Create("a", nil)))
		call(coord.ErrVersion, commit(coord.AtVersion("a", 17)))
		call(coord.ErrInvalidCommit, commit())
		call(nil, get)
		call(nil, func() error { _, err := reg.List(ctx, ""); return err })
		call(coord.ErrNoNode, func() error { _, err := reg.List(ctx, "none"); return err })
		for _, err := range reg.GetAll(ctx, []string{"a", "none"}) {
			_ = err // a node that is not there is no failure
		}
		for _, err := range reg.Walk(ctx, "") {
			call(nil, func() error { return err })
		}
		p.reg.Link().Delay(30 * time.Millisecond)
		call(nil, get)
		p.reg.Link().Heal()
		ended, cancel := context.WithCancel(ctx)
		cancel()
		call(context.Canceled, func() error { _, err := reg.Get(ended, "a"); return err })
		f.store.Down()
		call(coord.ErrUnavailable, get)
		f.store.Up()
		p.must(map[string]float64{
			`elasticjob_store_requests_total{operation="commit",result="ok"}`:              1,
			`elasticjob_store_requests_total{operation="commit",result="conflict"}`:        2,
			`elasticjob_store_requests_total{operation="commit",result="other"}`:           1,
			`elasticjob_store_conflicts_total{reason="node_exists"}`:                       1,
			`elasticjob_store_conflicts_total{reason="version"}`:                           1,
			`elasticjob_store_requests_total{operation="get",result="ok"}`:                 2,
			`elasticjob_store_requests_total{operation="get",result="canceled"}`:           1,
			`elasticjob_store_requests_total{operation="get",result="unavailable"}`:        1,
			`elasticjob_store_requests_total{operation="list",result="ok"}`:                1,
			`elasticjob_store_requests_total{operation="list",result="no_node"}`:           1,
			`elasticjob_store_requests_total{operation="walk",result="ok"}`:                1,
			`elasticjob_store_requests_total{operation="get_all",result="ok"}`:             1,
			`elasticjob_store_request_duration_seconds_count{operation="commit"}`:          4,
			`elasticjob_store_request_duration_seconds_bucket{operation="list",le="0.01"}`: 2,
		})
		if slow := p.value(`elasticjob_store_request_duration_seconds_sum{operation="get"}`); slow < 0.03 {
			t.Errorf("answers took %v s", slow)
		}
	})
}

func TestGroupsAreShown(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		p := f.dial("a", prom.Options{})
		p.metrics.Registry(grouped{Registry: p.reg})
		p.must(map[string]float64{
			`elasticjob_store_commit_group_size_count{}`:        13,
			`elasticjob_store_commit_group_size_sum{}`:          20,
			`elasticjob_store_commit_group_size_bucket{le="1"}`: 10,
			`elasticjob_store_commit_group_size_bucket{le="2"}`: 10,
			`elasticjob_store_commit_group_size_bucket{le="4"}`: 13,
			`elasticjob_store_commits_waiting{}`:                3,
		})
	})
}

func TestSessionIsShown(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		p := f.dial("a", prom.Options{})
		reg := p.metrics.Registry(p.reg)
		if state := p.value(`elasticjob_session_state{state="lost"}`); !math.IsNaN(state) {
			t.Error("a session is shown that nobody has asked for")
		}
		session := func(ctx context.Context) coord.Session {
			s, err := reg.Session(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		is := func(state string) {
			t.Helper()
			for _, s := range []string{"connected", "suspended", "lost"} {
				if got := p.value(fmt.Sprintf("elasticjob_session_state{state=%q}", s)); got != float64(one(s == state)) {
					t.Errorf("%s is %v, but the session is %s", s, got, state)
				}
			}
			if left := p.value(`elasticjob_session_left_seconds{}`); (left > 0) != (state != "lost") || left > 10 {
				t.Errorf("the session is %s, and lasts %v s", state, left)
			}
		}
		s := session(t.Context())
		is("connected")
		p.reg.Link().Cut()
		pass(5 * time.Second)
		is("suspended")
		<-s.Context().Done()
		is("lost")
		p.reg.Link().Heal()
		for range 3 {
			session(t.Context())
		}
		is("connected")
		p.must(map[string]float64{`elasticjob_sessions_total{}`: 2})
	})
}

// The lag of a view counts until somebody takes a snapshot with the commit.
func TestLag(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		p := f.dial("a", prom.Options{})
		slow := &slow{Registry: p.reg}
		reg := p.metrics.Registry(slow)
		commit := func(ops ...coord.Op) {
			t.Helper()
			if _, err := reg.Commit(t.Context(), ops...); err != nil {
				t.Fatal(err)
			}
		}
		lag := func(count, sum float64) {
			t.Helper()
			if n, s := p.value("elasticjob_view_lag_seconds_count{}"), p.value("elasticjob_view_lag_seconds_sum{}"); n != count || math.Abs(s-sum) > 0.001 {
				t.Errorf("%v samples with %v s, want %v with %v s", n, s, count, sum)
			}
		}
		view := func(root string) coord.View {
			v, err := reg.View(t.Context(), root, coord.AllLevels)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(v.Close)
			return v
		}
		commit(coord.Put("job/a", nil), coord.Put("job/b", nil), coord.Put("other/c", nil))
		lag(0, 0) // nobody has a view
		v := view("job")
		commit(coord.Put("other/c", nil))
		pass(time.Second)
		v.Snapshot()
		lag(0, 0) // the view does not show it
		commit(coord.Put("job/a", nil))
		pass(200 * time.Millisecond)
		v.Snapshot()
		lag(1, 0.2)
		commit(coord.Put("job/a", nil)) // too soon for another sample
		pass(time.Second)
		v.Snapshot()
		lag(1, 0.2)

		commit(coord.Set("job/a", nil))
		commit(coord.Delete("job/a")) // before anybody could see it
		pass(11 * time.Second)
		v.Snapshot()
		lag(1, 0.2)

		slow.stands = v.Snapshot() // from now on the view is behind
		commit(coord.Set("job/b", nil))
		pass(9 * time.Second)
		v.Snapshot()
		lag(1, 0.2)
		pass(2 * time.Second)
		v.Snapshot()
		lag(2, 11.2)
	})
}

// slow is a registry whose views may be behind.
type slow struct {
	coord.Registry
	stands coord.Snapshot // that they show; none if it is empty
}

func (s *slow) View(ctx context.Context, root string, depth int, bounds ...coord.Bounds) (coord.View, error) {
	v, err := s.Registry.View(ctx, root, depth, bounds...)
	return slowView{v, s}, err
}

type slowView struct {
	coord.View
	slow *slow
}

func (v slowView) Snapshot() coord.Snapshot {
	if v.slow.stands.Len() > 0 {
		return v.slow.stands
	}
	return v.View.Snapshot()
}
