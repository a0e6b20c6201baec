package api

import (
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/jobtype"
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
func configKeys(c jobtype.Config) (ConfigKeys, error) {
	document, err := c.Encode(nil)
	if err != nil {
		return nil, err
	}
	var keys map[string]any // The decoder gives nested mappings the type of the outer one, and mergePatch merges only map[string]any.
	if err := yaml.Unmarshal(document, &keys); err != nil {
		return nil, fmt.Errorf("configuration of %s: %w", c.Name, err)
	}
	return keys, nil
}

// Schema is of huma.SchemaProvider.
func (ConfigKeys) Schema(r huma.Registry) *huma.Schema {
	return named(r, "Configuration", func() *huma.Schema {
		return configSchema(false, "A configuration by ElasticJob's keys (JobConfigurationPOJO). A key that is left out has its default.")
	})
}

// ConfigPatch is what of a configuration is to change: a JSON merge patch.
type ConfigPatch map[string]any

// Schema is of huma.SchemaProvider.
func (ConfigPatch) Schema(r huma.Registry) *huma.Schema {
	return named(r, "ConfigurationPatch", func() *huma.Schema {
		return configSchema(true, "Keys of a configuration that are to change. A key that is null is taken away, so it has its default. The same holds for keys of props: those that are not named stay.")
	})
}

// named returns a reference to a schema of the document, and makes that if there is none yet.
func named(r huma.Registry, name string, schema func() *huma.Schema) *huma.Schema {
	if all := r.Map(); all[name] == nil {
		all[name] = schema()
		all[name].PrecomputeMessages()
	}
	return &huma.Schema{Ref: refPrefix + name}
}

// configSchema is the schema of a configuration. What values are allowed package job says: it knows more than a
// schema can say.
func configSchema(isPatch bool, about string) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Description: about, Properties: map[string]*huma.Schema{}, AdditionalProperties: true}
	if isPatch {
		s.Examples = []any{map[string]any{"cron": "0 0 4 * * ?", "timeZone": nil}}
	} else {
		s.Examples = []any{map[string]any{"jobName": "settle", "cron": "0 0 3 * * ?", "timeZone": "UTC", "shardingTotalCount": 3, "failover": true}}
	}
	for _, key := range []struct{ name, kind, says string }{
		{"jobName", huma.TypeString, "Name of the job. Default: that of the path."},
		{"cron", huma.TypeString, "When it runs: a Quartz expression, or the five fields of Unix cron. Empty for a one-off job."},
		{"timeZone", huma.TypeString, "Zone of the expression: an IANA name, or an offset such as GMT+08:00. Default: that of each process."},
		{"shardingTotalCount", huma.TypeInteger, "How many items it has: 1 to 100,000."},
		{"shardingItemParameters", huma.TypeString, "Parameters of items, such as 0=north,1=south."},
		{"jobParameter", huma.TypeString, "Parameter of all items."},
		{"monitorExecution", huma.TypeBoolean, "Whether the registry knows what runs. Default true."},
		{"failover", huma.TypeBoolean, "Whether an execution is run again if its instance ends in the middle of it. Default false."},
		{"misfire", huma.TypeBoolean, "Whether ticks that were missed are made up for, once. Default true."},
		{"maxTimeDiffSeconds", huma.TypeInteger, "How far a clock may be off, in seconds. 0 and less is any. Default -1."},
		{"reconcileIntervalMinutes", huma.TypeInteger, "How often an instance looks at all of the job again, in minutes. 0 and less is never. Default 10."},
		{"jobShardingStrategyType", huma.TypeString, "How items are assigned. Default AVG_ALLOCATION."},
		{"jobExecutorThreadPoolSizeProviderType", huma.TypeString, "How many items a process runs at a time: CPU (twice the number of its CPUs) or SINGLE_THREAD. Default CPU."},
		{"jobErrorHandlerType", huma.TypeString, "Who is told of errors: one name, or several with commas between them. Default LOG."},
		{"jobListenerTypes", huma.TypeArray, "Names of listeners, in their order."},
		{"description", huma.TypeString, "What the job is for, for people."},
		{"label", huma.TypeString, "Only instances with this label have items. Default: all may."},
		{"disabled", huma.TypeBoolean, "Whether servers are disabled when they first come. Default false."},
		{"overwrite", huma.TypeBoolean, "Whether a program's configuration replaces that of the registry. Default false."},
		{"staticSharding", huma.TypeBoolean, "Whether items stay where they are as long as that is possible. Default false."},
		{"props", huma.TypeObject, "Properties of the job's type, and what ElasticJob has no key for: cron.more, schedule.calendars, overlap, execution.timeout.seconds and others."},
	} {
		property := &huma.Schema{Type: key.kind, Description: key.says, Nullable: isPatch}
		switch key.kind {
		case huma.TypeArray:
			property.Items = &huma.Schema{Type: huma.TypeString}
		case huma.TypeObject:
			property.AdditionalProperties = &huma.Schema{Type: huma.TypeString, Nullable: isPatch}
		}
		s.Properties[key.name] = property
	}
	return s
}
