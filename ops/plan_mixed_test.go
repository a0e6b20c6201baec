package ops_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// A change is warned of only if JVM members are there, and what changes does harm with them.
func TestPlanBesideJVMMembers(t *testing.T) {
	virtual(t, func(t *testing.T, d dial) {
		ctx := t.Context()
		reg := open(t, d)
		steer := ops.New(reg).Job("old")
		const document = `{"jobName":"old","jobClass":"org.example.Old","jobType":"SIMPLE","cron":"0 0 0 1 1 ?","shardingTotalCount":2,"monitorPort":-1}`
		if _, err := reg.Commit(ctx, coord.Put("old/config", []byte(document))); err != nil {
			t.Fatal(err)
		}
		warned := func(timeout, jitter time.Duration, zone string) string {
			t.Helper()
			there, err := steer.Settings(ctx)
			if err != nil {
				t.Fatal(err)
			}
			next := there.Config
			next.Timeout, next.Jitter, next.TimeZone = timeout, jitter, zone
			p, err := steer.Plan(ctx, ops.PlanRequest{Config: next})
			if err != nil {
				t.Fatal(err)
			}
			var fields []string
			for _, text := range p.Warnings {
				if _, issue, is := strings.Cut(text, `JVM members are there ("10.0.0.3@-@1"): `); is {
					field, _, _ := strings.Cut(issue, ": JVM members ")
					fields = append(fields, field)
				}
			}
			slices.Sort(fields)
			return strings.Join(fields, ", ")
		}
		if got := warned(time.Minute, time.Second, "GMT"); got != "" {
			t.Errorf("warned without JVM members of %s", got)
		}
		if _, err := reg.Commit(ctx, coord.CreateEphemeral("old/instances/10.0.0.3@-@1", nil)); err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			timeout, jitter time.Duration
			zone, want      string
		}{
			{0, 0, "", "config"}, // the document becomes one of 3.0
			{0, time.Second, "", "config"},
			{time.Minute, 0, "", "config, props: execution.timeout.seconds"},
			{0, 0, "GMT+08:00", "config, timeZone"},
		} {
			if got := warned(tc.timeout, tc.jitter, tc.zone); got != tc.want {
				t.Errorf("time-out %v, jitter %v: warned of %q, want %q", tc.timeout, tc.jitter, got, tc.want)
			}
		}
	})
}

// An update of a job of elastic-job 2.1 says that members of 2.1 do not come back, and keeps what does the work, which
// stood in the document alone.
func TestUpdateOfAJobOfElasticJob2(t *testing.T) {
	for name, tc := range map[string]struct {
		root []coord.Op
		want string
	}{
		"as 2.1 leaves it": {[]coord.Op{coord.Put("old", nil)}, "org.example.Old"},
		"implemented":      {[]coord.Op{coord.Put("old", []byte("old"))}, "old"},
		"without a node":   {nil, "org.example.Old"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, d dial) {
				ctx := t.Context()
				reg := open(t, d)
				steer := ops.New(reg).Job("old")
				const document = `{"jobName":"old","jobClass":"org.example.Old","jobType":"SIMPLE","cron":"0 0 0 1 1 ?","shardingTotalCount":2,"monitorPort":-1}`
				if _, err := reg.Commit(ctx, append(tc.root, coord.Put("old/config", []byte(document)))...); err != nil {
					t.Fatal(err)
				}
				for _, isFirst := range []bool{true, false} {
					there, err := steer.Settings(ctx)
					if err != nil {
						t.Fatal(err)
					}
					next := there.Config
					next.ShardingTotalCount++
					p, err := steer.Plan(ctx, ops.PlanRequest{Config: next})
					if err != nil {
						t.Fatal(err)
					}
					if warned := strings.Contains(strings.Join(p.Warnings, "\n"), "elastic-job 2.1"); warned != isFirst {
						t.Errorf("warnings %q", p.Warnings)
					}
					if isFirst { // its members could not read what is written
						commit(t, ctx, reg, []coord.Op{coord.CreateEphemeral("old/instances/10.0.0.9@-@1", nil)})
						if err := steer.Update(ctx, ops.UpdateRequest{Config: next, Version: there.Version}); !errors.Is(err, jobtype.ErrOldMembers) || !strings.Contains(err.Error(), "10.0.0.9@-@1") {
							t.Errorf("while a member of 2.1 lives: %v", err)
						}
						commit(t, ctx, reg, []coord.Op{coord.Delete("old/instances/10.0.0.9@-@1")})
					}
					if err := steer.Update(ctx, ops.UpdateRequest{Config: next, Version: there.Version}); err != nil {
						t.Fatal(err)
					}
					if there, err = steer.Settings(ctx); err != nil || there.Implementation != tc.want {
						t.Errorf("implementation %q, %v; want %q", there.Implementation, err, tc.want)
					}
				}
			})
		})
	}
}
