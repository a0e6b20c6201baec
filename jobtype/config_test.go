package jobtype_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

// inForce is a configuration with a name, a total, and all defaults.
func inForce() jobtype.Config {
	return jobtype.Config{
		Name:               "settle",
		ShardingTotalCount: 3,
		MonitorExecution:   jobtype.On,
		Misfire:            jobtype.On,
		MisfireTolerance:   time.Second,
		ReconcileInterval:  10 * time.Minute,
		Strategy:           "AVG_ALLOCATION",
		ErrorHandler:       "LOG",
		Retry:              jobtype.Retry{InitialBackoff: time.Second, MaxBackoff: time.Minute},
	}
}

// with returns inForce with a change.
func with(change func(*jobtype.Config)) jobtype.Config {
	c := inForce()
	change(&c)
	return c
}

// The defaults are the same in code and in the registry. In ElasticJob they differ
// (defect B-64).
func TestDefaults(t *testing.T) {
	want := inForce()
	inCode := jobtype.Config{Name: "settle", ShardingTotalCount: 3}
	if diff := cmp.Diff(want, inCode.WithDefaults()); diff != "" {
		t.Errorf("in code (-want +got):\n%s", diff)
	}
	for name, document := range map[string]string{
		"YAML":         "jobName: settle\nshardingTotalCount: 3\n",
		"JSON":         `{"jobName":"settle","shardingTotalCount":3}`,
		"null":         "jobName: settle\nshardingTotalCount: 3\ncron:\nmisfire: null\nmonitorExecution: ~\nprops:\njobListenerTypes:\n",
		"empty values": "jobName: settle\nshardingTotalCount: 3\ncron: ''\ntimeZone: ''\njobShardingStrategyType: ''\njobErrorHandlerType: \"\"\nprops: {}\njobListenerTypes: []\n",
	} {
		got, err := jobtype.DecodeConfig([]byte(document))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDefaultsDoNotReplaceWhatIsSet(t *testing.T) {
	want := jobtype.Config{
		Name: "settle", Cron: "* * * * * ?", MoreCrons: []string{"0 0 12 * * ?"}, Calendars: []string{"c"}, Overlap: jobtype.OverlapSkip, Jitter: time.Second, TimeZone: "GMT+08:00",
		Expiry:             jobtype.Expiry{At: time.Date(2027, 1, 31, 9, 30, 0, 0, time.UTC), Ticks: 5, Remove: true},
		ShardingTotalCount: 1, ShardingItemParameters: "0=a",
		JobParameter: "p", Description: "d", MonitorExecution: jobtype.Off, Misfire: jobtype.Off, MisfireTolerance: time.Minute,
		MisfireWindow: time.Hour, MaxTimeDiff: time.Second, ReconcileInterval: time.Minute, Strategy: "STICKY", Threads: 3,
		ErrorHandler: "IGNORE", Listeners: []string{"l"}, Timeout: time.Minute,
		Retry: jobtype.Retry{Attempts: 2, InitialBackoff: time.Millisecond, MaxBackoff: time.Second},
		Props: map[string]string{"k": "v"}, Disabled: true, Overwrite: true, Revision: 7, StaticSharding: true, Label: "gpu", MaxItems: 5, Broadcast: true,
	}
	if diff := cmp.Diff(want, want.WithDefaults()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A duration of which negative is off stays off.
func TestDurationsThatAreOff(t *testing.T) {
	const off = -time.Hour
	c := jobtype.Config{MaxTimeDiff: off, ReconcileInterval: off, Retry: jobtype.Retry{InitialBackoff: off}}.WithDefaults()
	for name, d := range map[string]time.Duration{
		"MaxTimeDiff": c.MaxTimeDiff, "ReconcileInterval": c.ReconcileInterval, "InitialBackoff": c.Retry.InitialBackoff,
	} {
		if d > 0 {
			t.Errorf("%s is on: %v", name, d)
		}
	}
	if again := c.WithDefaults(); !cmp.Equal(again, c) {
		t.Errorf("what is off comes on again: %+v", again)
	}
	long := jobtype.Config{Retry: jobtype.Retry{InitialBackoff: time.Hour}}.WithDefaults()
	if long.Retry.MaxBackoff != time.Hour {
		t.Errorf("MaxBackoff %v is less than InitialBackoff", long.Retry.MaxBackoff)
	}
}

func TestConfigsDoNotShareMemory(t *testing.T) {
	c := jobtype.Config{Props: map[string]string{"k": "v"}, Listeners: []string{"l"}, MoreCrons: []string{"m"}, Calendars: []string{"c"}}
	d := c.WithDefaults()
	c.Props["k"], c.Listeners[0], c.MoreCrons[0], c.Calendars[0] = "changed", "changed", "changed", "changed"
	if d.Props["k"] != "v" || d.Listeners[0] != "l" || d.MoreCrons[0] != "m" || d.Calendars[0] != "c" {
		t.Errorf("a change of the original shows: %+v", d)
	}
}

func TestEqual(t *testing.T) {
	c := jobtype.Config{Name: "settle", ShardingTotalCount: 3}
	if !c.Equal(inForce()) || !c.Equal(with(func(c *jobtype.Config) { c.Props = map[string]string{}; c.Listeners = []string{} })) {
		t.Error("the same with defaults")
	}
	if c.Equal(with(func(c *jobtype.Config) { c.Misfire = jobtype.Off })) || c.Equal(with(func(c *jobtype.Config) { c.TimeZone = "UTC" })) {
		t.Error("not the same")
	}
}

func TestToggle(t *testing.T) {
	if jobtype.ToggleOf(true) != jobtype.On || jobtype.ToggleOf(false) != jobtype.Off {
		t.Error("Switch")
	}
	for toggle, want := range map[jobtype.Toggle]string{0: "default", jobtype.On: "on", jobtype.Off: "off", 7: "invalid"} {
		if got := toggle.String(); got != want {
			t.Errorf("%d is %q, want %q", toggle, got, want)
		}
	}
}
