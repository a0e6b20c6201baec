package api

import (
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/job"
)

// ConfigKeys is a configuration by ElasticJob's keys, as they stand in the registry: those that ElasticJob has, and
// in props what it has not. Others that stand there are kept, and are not shown.
type ConfigKeys map[string]any

// name gives a configuration that names no job the name of the path.
func (k ConfigKeys) name(job string) {
	if _, isNamed := k["jobName"]; !isNamed {
		k["jobName"] = job
	}
}

// configKeys returns a configuration by ElasticJob's keys.
func configKeys(c job.Config) (ConfigKeys, error) {
	document, err := c.Encode(nil)
	if err != nil {
		return nil, err
	}
	keys := ConfigKeys{}
	if err := yaml.Unmarshal(document, &keys); err != nil {
		return nil, fmt.Errorf("configuration of %s: %w", c.Name, err)
	}
	return keys, nil
}

// Schema is of huma.SchemaProvider. What values are allowed package job says: it knows more than a schema can say.
func (ConfigKeys) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{
		Type: huma.TypeObject, Description: "A configuration by ElasticJob's keys (JobConfigurationPOJO). A key that is left out has its default.",
		Examples:   []any{map[string]any{"jobName": "settle", "cron": "0 0 3 * * ?", "timeZone": "UTC", "shardingTotalCount": 3, "failover": true}},
		Properties: map[string]*huma.Schema{}, AdditionalProperties: true,
	}
	for _, key := range []struct{ name, kind, says string }{
		{"jobName", huma.TypeString, "Name of the job. Default: that of the path."},
		{"cron", huma.TypeString, "When it runs: a Quartz expression. Empty for a one-off job."},
		{"timeZone", huma.TypeString, "Zone of the expression. Default: that of each process."},
		{"shardingTotalCount", huma.TypeInteger, "How many items it has."},
		{"shardingItemParameters", huma.TypeString, "Parameters of items: 0=north,1=south."},
		{"jobParameter", huma.TypeString, "Parameter of all items."},
		{"monitorExecution", huma.TypeBoolean, "Whether the registry knows what runs."},
		{"failover", huma.TypeBoolean, "Whether an execution is run again if its instance ends in the middle of it."},
		{"misfire", huma.TypeBoolean, "Whether ticks that were missed are made up for, once."},
		{"maxTimeDiffSeconds", huma.TypeInteger, "How far a clock may be off; -1 is any."},
		{"reconcileIntervalMinutes", huma.TypeInteger, "How often the leader looks for what is wrong; 0 is never."},
		{"jobShardingStrategyType", huma.TypeString, "How items are dealt."},
		{"jobExecutorThreadPoolSizeProviderType", huma.TypeString, "CPU or SINGLE_THREAD."},
		{"jobErrorHandlerType", huma.TypeString, "What is done with errors."},
		{"jobListenerTypes", huma.TypeArray, "Listeners by name."},
		{"description", huma.TypeString, ""},
		{"label", huma.TypeString, "Only instances with this label have items."},
		{"disabled", huma.TypeBoolean, "Whether servers are disabled when they first come."},
		{"overwrite", huma.TypeBoolean, "Whether a program's configuration replaces the registry's."},
		{"staticSharding", huma.TypeBoolean, "Whether items stay where they are as long as that is possible."},
		{"props", huma.TypeObject, "Properties of the job's type, and what ElasticJob has no key for: cron.more, schedule.calendars, overlap, execution.timeout.seconds, …"},
	} {
		property := &huma.Schema{Type: key.kind, Description: key.says}
		switch key.kind {
		case huma.TypeArray:
			property.Items = &huma.Schema{Type: huma.TypeString}
		case huma.TypeObject:
			property.AdditionalProperties = &huma.Schema{Type: huma.TypeString}
		}
		s.Properties[key.name] = property
	}
	return s
}
