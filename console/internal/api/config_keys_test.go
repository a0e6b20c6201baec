package api

import (
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/job"
)

// The schema has the keys that a configuration with everything is written with, with their types.
func TestConfigKeysAreDescribed(t *testing.T) {
	keys, err := configKeys(job.Config{
		Name: "settle", Cron: "0 0 3 * * ?", MoreCrons: []string{"0 0 4 * * ?"}, TimeZone: "UTC", ShardingTotalCount: 3, ShardingItemParameters: "0=a", JobParameter: "p",
		Failover: true, Misfire: job.On, MaxTimeDiff: time.Second, ReconcileInterval: time.Minute, Strategy: "ROUND_ROBIN", ErrorHandler: "IGNORE",
		Description: "d", Label: "l", Listeners: []string{"one"}, Threads: 1, Calendars: []string{"holidays"},
	})
	if err != nil {
		t.Fatal(err)
	}
	schema := configSchema(false, "")
	for key, value := range keys {
		property := schema.Properties[key]
		if property == nil {
			t.Errorf("the schema has no %s", key)
			continue
		}
		kind := huma.TypeObject
		switch value.(type) {
		case string:
			kind = huma.TypeString
		case bool:
			kind = huma.TypeBoolean
		case int:
			kind = huma.TypeInteger
		case []any:
			kind = huma.TypeArray
		}
		if property.Type != kind {
			t.Errorf("%s is %T, and in the schema %s", key, value, property.Type)
		}
	}
	for key := range schema.Properties {
		if _, isThere := keys[key]; !isThere && key != "jobExecutorThreadPoolSizeProviderType" { // which is read, and kept
			t.Errorf("no configuration has %s: %v", key, keys)
		}
	}
}
