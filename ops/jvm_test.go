package ops_test

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
)

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
