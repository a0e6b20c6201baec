package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/internal/testserver/etcdserver"
	"github.com/elasticjob-go/elasticjob/internal/testserver/proxy"
)

// concurrent returns a concurrency session, which is closed when the test ends.
func concurrent(t *testing.T, r *etcd.Registry) *concurrency.Session {
	t.Helper()
	s, err := r.Concurrency(within(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close a concurrency session: %v", err)
		}
	})
	return s
}

func lock(t *testing.T, s *concurrency.Session, prefix string) *concurrency.Mutex {
	t.Helper()
	m := concurrency.NewMutex(s, prefix)
	if err := m.Lock(within(t)); err != nil {
		t.Fatal(err)
	}
	return m
}

// later runs a function on a goroutine, and returns its error.
func later(run func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- run() }()
	return result
}

// result waits for the error of a function that runs on a goroutine.
func result(t *testing.T, c <-chan error) error {
	t.Helper()
	select {
	case err := <-c:
		return err
	case <-within(t).Done():
		t.Fatal("it goes on waiting")
		return nil
	}
}

func pending(t *testing.T, what string, c <-chan error) {
	t.Helper()
	select {
	case err := <-c:
		t.Fatalf("%s does not wait: %v", what, err)
	default:
	}
}

// awaitKeys waits until so many keys begin with a prefix, and returns them.
func awaitKeys(t *testing.T, server *etcdserver.Server, prefix string, count int) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(within(t))
	defer cancel()
	changed := server.Admin().Watch(ctx, prefix, clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	for range changed {
		read, err := server.Admin().Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
		if err != nil {
			t.Fatal(err)
		}
		if len(read.Kvs) == count {
			var keys []string
			for _, kv := range read.Kvs {
				keys = append(keys, string(kv.Key))
			}
			return keys
		}
	}
	t.Fatalf("there are never %d keys %s…", count, prefix)
	return nil
}

// What etcd's package concurrency has works in the session: on its lease, in the namespace, and
// outside the tree if the prefix begins with a slash. The user needs no right but that of the
// namespace.
func TestConcurrency(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "u", Password: "p", Prefix: "/test/"}})
	config := etcd.Config{Username: "u", Password: "p"}
	r, _ := dial(t, server, config)
	other, _ := dial(t, server, config)
	s, o := concurrent(t, r), concurrent(t, other)

	t.Run("Mutex", func(t *testing.T) {
		m := lock(t, s, "/locks/a")
		if keys, want := awaitKeys(t, server, "/test//locks/a/", 1), fmt.Sprintf("/test//locks/a/%x", int64(session(t, r).ID())); keys[0] != want {
			t.Errorf("the key is %s, want %s", keys[0], want)
		}
		if err := concurrency.NewMutex(o, "/locks/a").TryLock(within(t)); !errors.Is(err, concurrency.ErrLocked) {
			t.Errorf("try a mutex that is locked: %v", err)
		}
		waiting := concurrency.NewMutex(o, "/locks/a")
		locked := later(func() error { return waiting.Lock(within(t)) })
		awaitKeys(t, server, "/test//locks/a/", 2)
		pending(t, "the other mutex", locked)
		if err := m.Unlock(within(t)); err != nil {
			t.Error(err)
		}
		if err := result(t, locked); err != nil {
			t.Error(err)
		}
	})
	t.Run("Election", func(t *testing.T) {
		e := concurrency.NewElection(s, "/elections/a")
		observed := concurrency.NewElection(o, "/elections/a").Observe(t.Context())
		if err := e.Campaign(within(t), "r"); err != nil {
			t.Fatal(err)
		}
		if leader := <-observed; string(leader.Kvs[0].Value) != "r" || string(leader.Kvs[0].Key) != e.Key() {
			t.Errorf("the leader is %v", leader.Kvs)
		}
		campaign := concurrency.NewElection(o, "/elections/a")
		elected := later(func() error { return campaign.Campaign(within(t), "other") })
		awaitKeys(t, server, "/test//elections/a/", 2)
		pending(t, "the other candidate", elected)
		if err := e.Resign(within(t)); err != nil {
			t.Error(err)
		}
		if err := result(t, elected); err != nil {
			t.Error(err)
		}
	})
	t.Run("STM", func(t *testing.T) {
		for _, isolation := range []concurrency.Isolation{concurrency.SerializableSnapshot, concurrency.Serializable, concurrency.RepeatableReads, concurrency.ReadCommitted} {
			key := fmt.Sprintf("/sums/%d", isolation)
			for _, client := range []*clientv3.Client{s.Client(), o.Client()} {
				_, err := concurrency.NewSTM(client, func(m concurrency.STM) error {
					m.Put(key, m.Get(key)+"1")
					return nil
				}, concurrency.WithIsolation(isolation))
				if err != nil {
					t.Fatal(err)
				}
			}
			if read, err := s.Client().Get(within(t), key); err != nil || len(read.Kvs) != 1 || string(read.Kvs[0].Value) != "11" || string(read.Kvs[0].Key) != key {
				t.Errorf("isolation %d: %v, %v", isolation, read, err)
			}
		}
	})
	if nodes, err := r.List(within(t), ""); err != nil || len(nodes) > 0 {
		t.Errorf("the tree has %v, %v", nodes, err)
	}
}

// Latches and mutexes of one path pass it on in the order in which they came.
func TestLatchAndMutexStandInOneQueue(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	type contender struct {
		entered <-chan error
		leave   func() error
	}
	var queue []contender
	for i := range 5 {
		r, _ := dial(t, server, etcd.Config{})
		var c contender
		if i%2 == 0 {
			latch, err := r.Latch("jobs/lock")
			if err != nil {
				t.Fatal(err)
			}
			var held coord.Held
			c.entered = later(func() (err error) { held, err = latch.Acquire(within(t)); return err })
			c.leave = func() error { return held.Release(within(t)) }
		} else {
			mutex := concurrency.NewMutex(concurrent(t, r), "jobs/lock")
			c.entered = later(func() error { return mutex.Lock(within(t)) })
			c.leave = func() error { return mutex.Unlock(within(t)) }
		}
		queue = append(queue, c)
		awaitKeys(t, server, "/test/jobs/lock/", i+1)
	}
	for i, c := range queue {
		if err := result(t, c.entered); err != nil {
			t.Fatal(err)
		}
		for j, other := range queue[i+1:] {
			pending(t, fmt.Sprintf("contender %d, while %d is in,", i+1+j, i), other.entered)
		}
		if err := c.leave(); err != nil {
			t.Error(err)
		}
	}
}

// However the registry's session ends, so does whatever a program does in it.
func TestConcurrencyEndsWithTheSession(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{})
	holder, _ := dial(t, server, etcd.Config{})
	held := concurrent(t, holder)
	v := open(t, holder, "v")
	for name, c := range map[string]struct {
		end     func(*testing.T, *etcd.Registry, coord.Session, *proxy.Proxy)
		timeout time.Duration
		cause   error
	}{
		"the deadline passes": {
			end:     func(_ *testing.T, _ *etcd.Registry, _ coord.Session, link *proxy.Proxy) { link.BlackHole() },
			timeout: 2 * time.Second,
			cause:   coord.ErrSessionLost,
		},
		"the lease is revoked": {
			end: func(t *testing.T, _ *etcd.Registry, s coord.Session, _ *proxy.Proxy) {
				if _, err := server.Admin().Revoke(within(t), clientv3.LeaseID(s.ID())); err != nil {
					t.Fatal(err)
				}
			},
			cause: coord.ErrSessionLost,
		},
		"the registry is closed": {
			end: func(t *testing.T, r *etcd.Registry, _ coord.Session, _ *proxy.Proxy) {
				if err := r.Close(within(t)); err != nil {
					t.Error(err)
				}
			},
			cause: coord.ErrClosed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer lock(t, held, "/lock").Unlock(within(t))
			r, links := dial(t, server, etcd.Config{SessionTimeout: c.timeout})
			registered := session(t, r)
			s, err := r.Concurrency(within(t))
			if err != nil {
				t.Fatal(err)
			}
			own := lock(t, s, "/own")
			waiting := later(func() error { return concurrency.NewMutex(s, "/lock").Lock(context.Background()) })
			observed := concurrency.NewElection(s, "/election").Observe(context.Background())
			awaitWatches(t, server, v, 2+1+1+1) // of the sessions' keys, of the view, of Lock and of Observe
			c.end(t, r, registered, links[0])
			unlocked := later(func() error { return own.Unlock(context.Background()) })

			<-s.Done()
			if cause := context.Cause(s.Ctx()); !errors.Is(cause, c.cause) || !errors.Is(context.Cause(registered.Context()), c.cause) {
				t.Errorf("the cause is %v, want %v", cause, c.cause)
			}
			if err := result(t, waiting); !errors.Is(err, c.cause) {
				t.Errorf("a Lock that waits: %v", err)
			}
			_ = result(t, unlocked) // it may have come in time, and fail with its connection
			for range observed {
				t.Error("nobody was elected")
			}
			if err := concurrency.NewMutex(s, "/lock").Lock(context.Background()); !errors.Is(err, c.cause) {
				t.Errorf("a new Lock: %v", err)
			}
			if _, err := concurrency.NewSTM(s.Client(), func(m concurrency.STM) error { m.Put("/k", ""); return nil }); !errors.Is(err, c.cause) {
				t.Errorf("a new transaction: %v", err)
			}
			if response := <-s.Client().Watch(context.Background(), "/k"); !errors.Is(response.Err(), c.cause) {
				t.Errorf("a new watch: %v", response.Err())
			}

			links[0].Heal()
			next, err := r.Concurrency(within(t))
			if c.cause == coord.ErrClosed {
				if !errors.Is(err, coord.ErrClosed) {
					t.Errorf("after Close: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if next.Lease() == s.Lease() {
				t.Error("the next session has the same lease")
			}
			if err := next.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Close ends neither the lease nor another concurrency session.
func TestCloseOfAConcurrencySession(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{})
	r, _ := dial(t, server, etcd.Config{})
	commit(t, r, coord.CreateEphemeral("e", nil))
	s, err := r.Concurrency(within(t))
	if err != nil {
		t.Fatal(err)
	}
	another := concurrent(t, r)
	m := lock(t, s, "/lock")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-s.Done()
	if err := s.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	commit(t, r, coord.Owned("e"))
	if state, _ := session(t, r).State(); state != coord.Connected || another.Ctx().Err() != nil {
		t.Errorf("the registry's session is %v, another concurrency session has ended: %v", state, another.Ctx().Err())
	}
	if err := m.Unlock(within(t)); err != nil {
		t.Errorf("unlock after Close: %v", err)
	}
	awaitKeys(t, server, "/test//lock/", 0)
	life, err := another.Client().TimeToLive(within(t), another.Lease(), clientv3.WithAttachedKeys())
	if err != nil || life.TTL <= 0 {
		t.Errorf("the lease: %v, %v", life, err)
	}
}

// An Unlock waits until the store is back: the registry would keep its key alive.
func TestUnlockOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	server := etcdserver.Start(t, etcdserver.Config{})
	r, links := dial(t, server, etcd.Config{SessionTimeout: 15 * time.Second})
	s := concurrent(t, r)
	m := lock(t, s, "/lock")
	links[0].Cut()
	awaitState(t, session(t, r), coord.Suspended)
	unlocked := later(func() error { return m.Unlock(s.Client().Ctx()) })
	links[0].Heal()
	if err := result(t, unlocked); err != nil {
		t.Error(err)
	}
	awaitKeys(t, server, "/test//lock/", 0)
}

// All watches of a client have one stream. When its token is refused the client logs in again.
func TestMutexesWaitAfterTheTokenHasExpired(t *testing.T) {
	server := etcdserver.Start(t, etcdserver.Config{Auth: &etcdserver.Auth{User: "u", Password: "p", Prefix: "/test/"}})
	config := etcd.Config{Username: "u", Password: "p"}
	r, _ := dial(t, server, config)
	other, _ := dial(t, server, config)
	s, o := concurrent(t, r), concurrent(t, other)
	v := open(t, r, "v")
	var unlock []*concurrency.Mutex
	var locked []<-chan error
	for _, prefix := range []string{"/a", "/b", "/c"} {
		unlock = append(unlock, lock(t, o, prefix))
		locked = append(locked, later(func() error { return concurrency.NewMutex(s, prefix).Lock(within(t)) }))
		awaitKeys(t, server, "/test/"+prefix+"/", 2)
		awaitWatches(t, server, v, 2+1+len(locked))                                       // of the sessions' keys, of the view, and of those who wait
		if _, err := server.Admin().UserChangePassword(within(t), "u", "p"); err != nil { // which makes all tokens invalid
			t.Fatal(err)
		}
	}
	for i, c := range locked {
		pending(t, fmt.Sprintf("mutex %d", i), c)
		if err := unlock[i].Unlock(within(t)); err != nil {
			t.Error(err)
		}
		if err := result(t, c); err != nil {
			t.Errorf("mutex %d: %v", i, err)
		}
	}
}
