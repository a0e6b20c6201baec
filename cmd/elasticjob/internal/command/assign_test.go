package command

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
)

func TestAssign(t *testing.T) {
	start := job.Config{Name: "a.b", Cron: "0 0 3 * * ?", ShardingTotalCount: 2, Retry: job.Retry{Attempts: 2}, Props: map[string]string{"x.y": "1"}}
	for _, tc := range []struct {
		set, unset string
		check      func(job.Config) bool
	}{
		{"cron=*/5 * * * * ?", "", func(c job.Config) bool { return c.Cron == "*/5 * * * * ?" }},
		{"shardingTotalCount=7", "", func(c job.Config) bool { return c.ShardingTotalCount == 7 }},
		{"failover=true", "", func(c job.Config) bool { return c.Failover }},
		{"retry.attempts=5", "", func(c job.Config) bool { return c.Retry.Attempts == 5 }},
		{"", "retry.attempts", func(c job.Config) bool { return c.Retry.Attempts == 0 }},
		{"", "retry", func(c job.Config) bool { return c.Retry.Attempts == 0 }},
		{"", "timeout", func(c job.Config) bool { return c.Cron == "0 0 3 * * ?" }},
		{"", "props.nothing.of.it", func(c job.Config) bool { return c.Cron == "0 0 3 * * ?" }},
		{"props.x.y=true", "", func(c job.Config) bool { return c.Props["x.y"] == "true" }},
		{"props.new.one=${env:HOME}", "", func(c job.Config) bool { return c.Props["new.one"] == "${env:HOME}" }},
		{"", "props.x.y", func(c job.Config) bool { return len(c.Props) == 0 }},
		{"description=${env:HOME} # a: b", "", func(c job.Config) bool { return c.Description == "${env:HOME} # a: b" }},
		{"jobParameter=5", "", func(c job.Config) bool { return c.JobParameter == "5" }},
		{"shardingItemParameters=0=A,1=B", "", func(c job.Config) bool { return c.ShardingItemParameters == "0=A,1=B" }},
		{"calendars=[one, two]", "", func(c job.Config) bool { return strings.Join(c.Calendars, ",") == "one,two" }},
		{"execution.timeout.seconds=90", "", func(c job.Config) bool { return c.Timeout.Seconds() == 90 && len(c.Props) == 1 }},
		{"props.schedule.jitter.milliseconds=1500", "", func(c job.Config) bool { return c.Jitter.Seconds() == 1.5 && len(c.Props) == 1 }},
		{"props.sharding.items.max=2", "", func(c job.Config) bool { return c.MaxItems == 2 }},
		{"retry.backoff.max.milliseconds=5000", "", func(c job.Config) bool { return c.Retry.MaxBackoff.Seconds() == 5 && c.Retry.Attempts == 2 }},
		{"", "props.retry.attempts", func(c job.Config) bool { return c.Retry.Attempts == 0 }},
		{"jobShardingStrategyType=STICKY", "", func(c job.Config) bool { return c.Strategy == "STICKY" }},
		{"timeout=90s", "", func(c job.Config) bool { return c.Timeout.Seconds() == 90 }},
	} {
		d, err := describe(jobfile.InRegistry(start, "handler"))
		if err != nil {
			t.Fatal(err)
		}
		if tc.unset != "" {
			d.unset(tc.unset)
		} else if err := d.set(tc.set); err != nil {
			t.Errorf("%s: %v", tc.set, err)
			continue
		}
		got, err := d.declared(jobfile.Options{}, jobfile.Declared{})
		if err != nil || !tc.check(got.Config) || got.Work() != "handler" || got.Config.Name != "a.b" {
			t.Errorf("set %q, unset %q: got %+v, %v", tc.set, tc.unset, got.Config, err)
		}
	}
}

func TestWrongAssignments(t *testing.T) {
	for assignment, want := range map[string]string{
		"cron":                  "key=value",
		"=1":                    "key=value",
		"cronn=1":               "cronn",
		"cron=nonsense":         "cron",
		"enabled=false":         "enabled",
		"shardingTotalCount=no": "shardingTotalCount",
		"retry=5":               "retry",
	} {
		d, err := describe(jobfile.InRegistry(job.Config{Name: "a", ShardingTotalCount: 1}, "handler"))
		if err != nil {
			t.Fatal(err)
		}
		if err = d.set(assignment); err == nil {
			_, err = d.declared(jobfile.Options{}, jobfile.Declared{})
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "line") {
			t.Errorf("%s: got %v, want an error with %q", assignment, err, want)
		}
	}
}
