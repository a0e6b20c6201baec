package job_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/job"
)

// The JSON has the names of ElasticJob, and only ASCII, whatever the texts are.
func TestShardingContextAsJSON(t *testing.T) {
	sc := job.ShardingContext{
		JobName: "settle", TaskID: "0199", InstanceID: "10.0.0.1@-@1", Item: 2, ItemParameter: "上海 <a&b> \"q\"", JobParameter: "😀\x7f\n", Total: 3,
		ScheduledTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Source: job.SourceMisfire, Attempt: 2, Token: 7,
	}
	got, err := json.Marshal(sc)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"jobName":"settle","taskId":"0199","shardingTotalCount":3,"jobParameter":"\ud83d\ude00\u007f\n","shardingItem":2,` +
		`"shardingParameter":"\u4e0a\u6d77 \u003ca\u0026b\u003e \"q\"","instanceId":"10.0.0.1@-@1","scheduledTime":"2026-01-02T03:04:05Z",` +
		`"source":"MISFIRE","attempt":2,"token":7}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	var read struct{ ShardingParameter, JobParameter string }
	if err := json.Unmarshal(got, &read); err != nil || read.ShardingParameter != sc.ItemParameter || read.JobParameter != sc.JobParameter {
		t.Errorf("read %+v, %v", read, err)
	}
	sc.ItemParameter = ""
	if got, err := sc.MarshalJSON(); err != nil || string(got) == "" || json.Valid(got) == false {
		t.Errorf("got %s, %v", got, err)
	}
}
