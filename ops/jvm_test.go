package ops_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Jobs whose names no Go job can have are in the lists, marked.
func TestJobsOfJVMMembers(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		want := []string{"a(b)", "com.foo.Job$Inner", "my job", "订单任务"}
		for _, name := range append([]string{"settle"}, want...) {
			plant(t, reg, name, map[string]string{
				"config": "cron: 0 0 3 * * ?\njobName: " + name + "\nshardingTotalCount: 2\n", "servers/192.0.2.2": "", "instances/" + here: "",
				"sharding/0/instance": here, "sharding/0/running": "", "sharding/1/instance": here,
			})
		}
		plant(t, reg, "~elasticjob", map[string]string{"config": "is no job's", "audit/x": "?"})
		o := ops.New(reg)
		list, err := o.Jobs(t.Context(), ops.JobsQuery{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, j := range list.Jobs {
			if j.JVMOnly {
				got = append(got, j.Name)
			}
			if j.Status != ops.JobOK || j.Instances != 1 || j.JVM != 1 || j.Running != 1 || j.ShardingTotalCount != 2 || j.ConfigError != "" || j.JVMOnly == (j.Name == "settle") {
				t.Errorf("%+v", j)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) || list.Totals.Jobs != 5 || list.Totals.Running != 5 {
			t.Errorf("%q of %+v", got, list.Totals)
		}
		var watched []string
		for u, err := range o.Watch(t.Context(), time.Second) {
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range u.Jobs {
				watched = append(watched, j.Name)
			}
			if len(watched) >= 5 {
				break
			}
		}
		if slices.Sort(watched); !slices.Equal(watched, []string{"a(b)", "com.foo.Job$Inner", "my job", "settle", "订单任务"}) {
			t.Errorf("watched: %q", watched)
		}
		for s, err := range o.AllSettings(t.Context()) {
			if err != nil || s.Job != "settle" {
				t.Errorf("settings of %q, %v", s.Job, err)
			}
		}
	})
}

// What stands in the way back to ElasticJob.
func TestForJVM(t *testing.T) {
	document := func(c job.Config) []byte {
		text, err := c.Encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	plain := job.Config{Name: "settle", Cron: "0 * * * * ?", ShardingTotalCount: 3}
	zone := plain
	zone.TimeZone, zone.Label = "Asia/Shanghai", "gpu"
	for _, tc := range []struct {
		name, implementation string
		document             []byte
		want                 string
	}{
		{"a class", "org.example.Settle", document(plain), ""},
		{"a script", "SCRIPT", document(plain), ""},
		{"none", "", document(plain), ""},
		{"a name of ours", "settle", document(plain), "implementation!"},
		{"a zone", "org.example.Settle", document(zone), "timeZone! label"},
		{"both", "settle", document(zone), "implementation! timeZone! label"},
	} {
		issues, err := ops.Settings{Job: "settle", Implementation: tc.implementation, Document: tc.document}.ForJVM()
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		var got []string
		for _, i := range issues {
			if got = append(got, i.Field); i.Refused {
				got[len(got)-1] += "!"
			}
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, text, tc.want)
		}
	}
	if _, err := (ops.Settings{Job: "settle", Document: []byte("[")}).ForJVM(); err == nil || !strings.Contains(err.Error(), "job settle") {
		t.Errorf("a document that cannot be read: %v", err)
	}
}
