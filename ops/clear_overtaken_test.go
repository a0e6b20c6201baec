package ops_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/ops"
)

// What others do between the look of an operation and its commit is not undone by it.
func TestClearIsOvertaken(t *testing.T) {
	const here, gone = "10.0.0.1@-@1", "10.0.0.2@-@2"
	for name, tc := range map[string]struct {
		there, others []coord.Op
		do            func(context.Context, *ops.Job) ([]string, error)
		want          []string
		stays         string // a node that is as others have left it
	}{
		"the instance is back": {
			there:  []coord.Op{coord.Put("settle/sharding/1/running", []byte(gone))},
			others: []coord.Op{coord.CreateEphemeral("settle/instances/"+gone, nil)},
			do:     func(ctx context.Context, j *ops.Job) ([]string, error) { return j.ClearStale(ctx) },
			stays:  "settle/sharding/1/running",
		},
		"an instance leaves, and its execution goes on": {
			there: []coord.Op{coord.Put("settle/sharding/1/running", []byte(gone)), coord.CreateEphemeral("settle/sessions/"+gone, nil)},
			do:    func(ctx context.Context, j *ops.Job) ([]string, error) { return j.ClearStale(ctx) },
			stays: "settle/sharding/1/running",
		},
		"an old JVM member runs, which names nobody": {
			there: []coord.Op{coord.Put("settle/sharding/1/running", nil), coord.Put("settle/sharding/1/instance", []byte(here)), coord.CreateEphemeral("settle/instances/"+here, nil)},
			do:    func(ctx context.Context, j *ops.Job) ([]string, error) { return j.ClearStale(ctx) },
			stays: "settle/sharding/1/running",
		},
		"the item is taken over": {
			there:  []coord.Op{coord.Put("settle/leader/failover/items/1", nil)},
			others: []coord.Op{coord.Put("settle/sharding/1/running", []byte(here)), coord.DeleteTree("settle/leader/failover/items/1")},
			do: func(ctx context.Context, j *ops.Job) ([]string, error) {
				items, err := j.ClearFailovers(ctx)
				if len(items) > 0 {
					return []string{"cleared"}, err
				}
				return nil, err
			},
			stays: "settle/sharding/1/running",
		},
		"an item runs, and waits to be taken over": {
			there: []coord.Op{coord.Put("settle/leader/failover/items/1", nil), coord.Put("settle/leader/failover/items/2", nil), coord.Put("settle/sharding/1/running", []byte(here))},
			do: func(ctx context.Context, j *ops.Job) ([]string, error) {
				items, err := j.ClearFailovers(ctx)
				return []string{fmt.Sprint(items)}, err
			},
			want: []string{"[2]"}, stays: "settle/leader/failover/items/1",
		},
		"an instance ends": {
			there:  []coord.Op{coord.CreateEphemeral("settle/instances/"+here, nil), coord.CreateEphemeral("settle/instances/"+gone, nil)},
			others: []coord.Op{coord.DeleteTree("settle/instances/" + gone)},
			do: func(ctx context.Context, j *ops.Job) ([]string, error) {
				return j.Shutdown(ctx, ops.ShutdownRequest{Instances: []string{here, gone}})
			},
			want: []string{here}, stays: "settle",
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, d dial) {
				ctx := t.Context()
				reg := open(t, d)
				if err := ops.New(reg).Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
					t.Fatal(err)
				}
				if _, err := reg.Commit(ctx, tc.there...); err != nil {
					t.Fatal(err)
				}
				late := &wired{Registry: reg, sees: func([]coord.Op) {
					if len(tc.others) == 0 {
						return
					}
					if _, err := reg.Commit(ctx, tc.others...); err != nil {
						t.Error(err)
					}
					tc.others = nil
				}}
				got, err := tc.do(ctx, ops.New(late).Job("settle"))
				if err != nil || !slices.Equal(got, tc.want) {
					t.Errorf("done: %v, want %v; %v", got, tc.want, err)
				}
				if _, err := reg.Get(ctx, tc.stays); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A pause that comes while misfires are cleared stays.
func TestClearMisfiresDuringAPause(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		plain := ops.New(reg)
		cfg := settle()
		cfg.Cron = "0 * * * * ?"
		if err := plain.Create(ctx, ops.CreateRequest{Config: cfg}); err != nil {
			t.Fatal(err)
		}
		if _, err := reg.Commit(ctx, coord.Put("settle/schedule", []byte("cron: 0 * * * * ?\ntimeZone: Local\nmisfire: true\nsince: 1999-01-01T00:00:00Z\n")),
			coord.Put("settle/sharding/0/fired", []byte("tick: 1999-12-31T00:00:00Z\n"))); err != nil {
			t.Fatal(err)
		}
		paused := false
		late := &wired{Registry: reg, sees: func([]coord.Op) {
			if !paused {
				paused = true
				if _, err := plain.Job("settle").Pause(ctx, ops.PauseRequest{}); err != nil {
					t.Error(err)
				}
			}
		}}
		if err := ops.New(late).Job("settle").ClearMisfires(ctx); err != nil {
			t.Fatal(err)
		}
		info, err := plain.Job("settle").Describe(ctx)
		if err != nil || !paused || info.Info.Paused.Since.IsZero() {
			t.Errorf("paused: %v, %+v, %v", paused, info, err)
		}
	})
}
