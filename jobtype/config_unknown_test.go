package jobtype_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

func TestUnknownKeys(t *testing.T) {
	full := jobtype.Config{
		Name: "settle", Cron: "0 0 0 1 1 ?", ShardingTotalCount: 3, Description: "x", Label: "gpu", Threads: 3, Listeners: []string{"a"},
		MaxTimeDiff: 5, Props: map[string]string{"own": "1"}, TimeZone: "UTC", JobParameter: "p", ShardingItemParameters: "0=a",
	}
	full.MaxTimeDiff = 0
	document, err := full.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		string(document): nil,
		`{"jobName":"settle","jobClass":"x","jobType":"SIMPLE","monitorPort":1,"jobProperties":{}}`: nil,
		"jobName: settle\ncorn: x\nshardingTotal: 3\n":                                              {"corn", "shardingTotal"},
	} {
		if got, err := jobtype.UnknownKeys([]byte(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	if _, err := jobtype.UnknownKeys([]byte("- 1")); !errors.Is(err, jobtype.ErrInvalidConfig) {
		t.Errorf("no mapping: %v", err)
	}
}
