package ops_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// asks makes a request of each kind with a key.
func asks(o *ops.Ops, kind, key, parameter string) func(context.Context) (id string, wasThere bool, err error) {
	at := time.Date(1999, 6, 1, 0, 0, 0, 0, time.UTC)
	j := o.Job("settle")
	of := func(r *jobtype.Requested, err error) (string, bool, error) {
		if err != nil {
			return "", false, err
		}
		return r.ID, r.WasThere, nil
	}
	return func(ctx context.Context) (string, bool, error) {
		switch kind {
		case "retry":
			return of(j.Retry(ctx, ops.RetryRequest{Key: key, Parameter: parameter}))
		case "backfill":
			return of(j.Backfill(ctx, ops.BackfillRequest{Key: key, Parameter: parameter, From: at.AddDate(-1, 0, 0), To: at}))
		}
		r, err := j.Trigger(ctx, job.TriggerRequest{Key: key, Parameter: parameter, Items: []int{0}})
		if err != nil {
			return "", false, err
		}
		return r.ID, r.WasThere, nil
	}
}

// withFailure starts a process of a job, the item 1 of which fails once.
func withFailure(t *testing.T, d dial) {
	t.Helper()
	s := runs(t, d, settle(), "10.0.0.1", func(_ context.Context, sc job.ShardingContext) error {
		if sc.JobParameter == "fail" {
			return errors.New("no disk")
		}
		return nil
	})
	owns(t, s, 3)
	r, err := s.Trigger(t.Context(), job.TriggerRequest{Items: []int{1}, Parameter: "fail"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := r.Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

// However many ask with a key, side by side or one after the other, from whatever process: they get one request. The
// key counts for nothing else.
func TestKeyMakesOneRequest(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		withFailure(t, d)
		o := ops.New(open(t, d))
		for _, kind := range []string{"trigger", "retry", "backfill"} {
			ids := make([]string, 6)
			made := make([]bool, len(ids))
			ask := asks(o, kind, kind+" 7", "p")
			var together sync.WaitGroup
			for n := range ids {
				together.Go(func() {
					var err error
					var wasThere bool
					if ids[n], wasThere, err = ask(t.Context()); err != nil {
						t.Errorf("%s: %v", kind, err)
					}
					made[n] = !wasThere
				})
			}
			together.Wait()
			before := 0
			for n, id := range ids {
				if id != ids[0] {
					t.Errorf("%s: requests %s", kind, ids)
				}
				if made[n] {
					before++
				}
			}
			if before != 1 {
				t.Errorf("%s: made %d times", kind, before)
			}
			if _, _, err := asks(ops.New(open(t, d)), kind, kind+" 7", "another")(t.Context()); !errors.Is(err, job.ErrKeyUsed) {
				t.Errorf("%s: something else with the key: %v", kind, err)
			}
			if id, _, err := asks(o, "trigger", kind+" 8", "p")(t.Context()); err != nil || id == ids[0] {
				t.Errorf("%s: another key: %s, %v", kind, id, err)
			}
			if _, _, err := asks(o, kind, strings.Repeat("x", jobtype.MaxRequestKey+1), "")(t.Context()); err == nil || !strings.Contains(err.Error(), "key: 256 bytes") {
				t.Errorf("%s: a long key: %v", kind, err)
			}
		}
		requests, err := o.Job("settle").Requests(t.Context())
		if err != nil || len(requests) != 7 { // and the one that has failed
			t.Errorf("%v: %d requests", err, len(requests))
		}
	})
}

// Who does not know whether his request was made asks again with its key: there is one, whether the first attempt
// was carried out, lost, or comes late.
func TestKeyAfterALostAnswer(t *testing.T) {
	for name, fault := range map[string]memory.Fault{
		"done": {After: coord.ErrUnknownOutcome},
		"lost": {Before: coord.ErrUnknownOutcome},
		"late": {Before: coord.ErrUnknownOutcome, Late: 10 * time.Millisecond},
	} {
		for _, kind := range []string{"trigger", "retry", "backfill"} {
			t.Run(kind+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := memory.NewStore(memory.Options{})
					t.Cleanup(store.Close)
					named := func(name string) dial {
						return func() (coord.Registry, error) {
							return store.Dial(t.Context(), memory.Config{Namespace: "ops", Name: name})
						}
					}
					withFailure(t, named("worker"))
					fault.Method, fault.Registry, fault.Times = memory.Commit, "first", 1
					store.Inject(fault)
					store.Inject(memory.Fault{Method: memory.Get, Registry: "first", Before: coord.ErrUnavailable})
					impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					defer cancel()
					_, _, lost := asks(ops.New(open(t, named("first"))), kind, "k", "")(impatient)
					if lost == nil {
						t.Error("the first attempt has an answer")
					}
					id, wasThere, err := asks(ops.New(open(t, named("second"))), kind, "k", "")(t.Context())
					if err != nil || id == "" || wasThere != (name == "done") {
						t.Errorf("second attempt: %s, %v, %v", id, wasThere, err)
					}
					pass(time.Second)
					if requests, err := ops.New(open(t, named("third"))).Job("settle").Requests(t.Context()); err != nil || len(requests) != 2 {
						t.Errorf("%v: %+v", err, requests)
					}
				})
			})
		}
	}
}
