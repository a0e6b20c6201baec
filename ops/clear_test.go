package ops_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// What an external writer, or a member that has ended, has left goes when it is cleared, while an instance lives.
func TestClear(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		steer := ops.New(reg).Job("settle")
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		begun := make(chan struct{}, 1)
		s := runs(t, d, settle(), "10.0.0.1", func(ctx context.Context, sc job.ShardingContext) error {
			begun <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		})
		owns(t, s, 3)
		must(steer.DisableItems(ctx, 1))
		if _, err := steer.Trigger(ctx, job.TriggerRequest{Items: []int{0}}); err != nil {
			t.Fatal(err)
		}
		<-begun
		must(steer.DisableServersAhead(ctx, "10.0.0.9"))
		for _, path := range []string{"settle/sharding/0/misfire", "settle/leader/failover/items/1", "settle/leader/sharding/processing"} {
			_, err := reg.Commit(ctx, coord.Put(path, nil))
			must(err)
		}
		for _, c := range []struct {
			path  string
			clear func(*ops.Job) (any, error)
			want  string
		}{
			{"settle/sharding/0/misfire", func(j *ops.Job) (any, error) { return nil, j.ClearMisfires(ctx) }, "<nil>"},
			{"settle/leader/failover/items/1", func(j *ops.Job) (any, error) { return j.ClearFailovers(ctx) }, "[1]"},
			{"settle/leader/sharding/processing", func(j *ops.Job) (any, error) { return j.ClearStale(ctx) }, "[settle/leader/sharding/processing]"},
			{"settle/servers/10.0.0.9", func(j *ops.Job) (any, error) {
				return j.ClearServers(ctx, ops.ClearServersRequest{Disabled: true})
			}, "[10.0.0.9]"},
		} {
			if list, err := steer.ClearServers(ctx, ops.ClearServersRequest{}); err != nil || len(list) > 0 {
				t.Errorf("cleared %v, %v", list, err)
			}
			var told []ops.Change
			all := ops.New(reg).OnChange(func(c ops.Change) { told = append(told, c) })
			_, err := c.clear(all.DryRun().Job("settle"))
			must(err)
			if _, err := reg.Get(ctx, c.path); err != nil || len(told) != 1 {
				t.Errorf("%s: a dry run: %v, told %+v", c.path, err, told)
			}
			got, err := c.clear(all.Job("settle"))
			if err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("%s: cleared %v, %v; want %s", c.path, got, err, c.want)
			}
			if _, err := reg.Get(ctx, c.path); !errors.Is(err, coord.ErrNoNode) || len(told) != 2 {
				t.Errorf("%s: %v, told %+v", c.path, err, told)
			}
			if _, err := c.clear(all.Job("settle")); err != nil || len(told) != 2 {
				t.Errorf("%s: again: %v, told %+v", c.path, err, told)
			}
		}
		if _, err := steer.ClearFailovers(ctx, 3); err == nil {
			t.Error("item 3 is there")
		}
		if _, err := steer.Kill(ctx, ops.KillRequest{}); err != nil {
			t.Error(err)
		}
	})
}

// What an item has missed while it ran is not made up when that is forgotten; what comes later runs.
func TestClearMisfires(t *testing.T) {
	for _, isCleared := range []bool{false, true} {
		virtual(t, func(t *testing.T, d dial) {
			ctx := t.Context()
			cfg := settle()
			cfg.Cron, cfg.ShardingTotalCount = "0 * * * * ?", 2
			type run struct {
				item int
				tick time.Time
			}
			begun, release := make(chan run, 100), make(chan struct{})
			s := runs(t, d, cfg, "10.0.0.1", func(_ context.Context, sc job.ShardingContext) error {
				begun <- run{sc.Item, sc.ScheduledTime}
				if sc.Item == 0 {
					<-release
				}
				return nil
			})
			owns(t, s, 2)
			first := time.Now().Truncate(time.Minute).Add(time.Minute)
			pass(time.Until(first.Add(2*time.Minute + 30*time.Second)))
			all := ops.New(open(t, d))
			if isCleared {
				if err := all.Job("settle").ClearMisfires(ctx); err != nil {
					t.Fatal(err)
				}
			}
			pass(10 * time.Second)
			close(release)
			pass(time.Minute)
			var ticks []time.Duration
			for len(begun) > 0 {
				if r := <-begun; r.item == 0 {
					ticks = append(ticks, r.tick.Sub(first))
				}
			}
			want := []time.Duration{0, 2 * time.Minute, 3 * time.Minute}
			if isCleared {
				want = slices.Delete(want, 1, 2)
			}
			if !slices.Equal(ticks, want) {
				t.Errorf("cleared: %v; item 0 ran for %v, want %v", isCleared, ticks, want)
			}
			if err := all.DryRun().OnChange(func(c ops.Change) { t.Errorf("something was missed: %+v", c) }).Job("settle").ClearMisfires(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// Records of executions go only if nobody is there who could end them.
func TestClearStale(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg, jvm := open(t, d), open(t, d)
		all := ops.New(reg)
		if err := all.Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
			t.Fatal(err)
		}
		lives, gone := "10.0.0.1@-@1", "10.0.0.2@-@2"
		for reg, list := range map[coord.Registry][]coord.Op{
			reg: {
				coord.Put("settle/sharding/0/running", []byte(lives)), coord.Put("settle/sharding/1/running", []byte(gone)),
				coord.Put("settle/sharding/2/running", nil), coord.Put("settle/sharding/2/instance", []byte(gone)),
			},
			jvm: {coord.CreateEphemeral("settle/instances/"+lives, nil), coord.CreateEphemeral("settle/leader/sharding/processing", nil)},
		} {
			if _, err := reg.Commit(ctx, list...); err != nil {
				t.Fatal(err)
			}
		}
		steer := all.Job("settle")
		if got, err := steer.ClearStale(ctx); err != nil || !slices.Equal(got, []string{"settle/sharding/1/running", "settle/sharding/2/running"}) {
			t.Errorf("%v, %v", got, err)
		}
		if _, err := reg.Commit(ctx, coord.DeleteTree("settle/instances/"+lives)); err != nil {
			t.Fatal(err)
		}
		if got, err := steer.ClearStale(ctx); err != nil || !slices.Equal(got, []string{"settle/leader/sharding/processing", "settle/sharding/0/running"}) {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// Without a Go leader servers stay for ever when instances move. Those with instances stay here, too.
func TestClearServers(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		all := ops.New(reg)
		if err := all.Create(ctx, ops.CreateRequest{Config: settle()}); err != nil {
			t.Fatal(err)
		}
		list := []coord.Op{coord.CreateEphemeral("settle/instances/10.0.0.1@-@1", nil), coord.Put("settle/servers/10.0.0.1", nil), coord.Put("settle/servers/10.0.0.2", []byte("disabled"))}
		var want []string
		for n := range 100 {
			want = append(want, fmt.Sprintf("10.0.1.%03d", n))
			list = append(list, coord.Put("settle/servers/"+want[n], nil))
		}
		if _, err := reg.Commit(ctx, list...); err != nil {
			t.Fatal(err)
		}
		if got, err := all.Job("settle").ClearServers(ctx, ops.ClearServersRequest{}); err != nil || !slices.Equal(got, want) {
			t.Errorf("cleared %v, %v", got, err)
		}
		if got, err := all.Job("settle").ClearServers(ctx, ops.ClearServersRequest{Disabled: true}); err != nil || !slices.Equal(got, []string{"10.0.0.2"}) {
			t.Errorf("cleared %v, %v", got, err)
		}
	})
}
