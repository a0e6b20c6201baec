package job

import (
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// The keys of the flat JSON of elastic-job 2.1.x that 3.0.x does not know.
const (
	oldKeyClass           = "jobClass"
	oldKeyType            = "jobType"
	oldKeyStrategyClass   = "jobShardingStrategyClass"
	oldKeyMonitorPort     = "monitorPort"
	oldKeyProperties      = "jobProperties"
	oldKeyErrorHandler    = "job_exception_handler"
	oldKeyExecutorService = "executor_service_handler"
	oldKeyStreaming       = "streamingProcess"
	oldKeyScript          = "scriptCommandLine"
)

// oldKeys returns the keys that are not written. In a document of 3.0.x their values have
// other keys, or none: jobClass and jobType are the value of the job's node, monitorPort is
// gone. A class that makes thread pools means the default, as in a JVM that cannot load it.
func oldKeys() []string {
	return []string{oldKeyClass, oldKeyType, oldKeyStrategyClass, oldKeyMonitorPort, oldKeyProperties, oldKeyStreaming, oldKeyScript}
}

// decodeOld reads the keys of 2.1.x into fields that the keys of 3.x have not set.
func (d document) decodeOld(c *Config, found *faults) {
	if class := d.oldText(oldKeyStrategyClass, found); class != "" && c.Strategy == "" {
		c.Strategy = strategyOf(class)
	}
	if d.has(oldKeyProperties) {
		properties, err := yamldoc.Mapping(d[oldKeyProperties])
		found.add(oldKeyProperties, "", err)
		if class := document(properties).oldText(oldKeyErrorHandler, found); class != "" && c.ErrorHandler == "" {
			c.ErrorHandler = errorHandlerOf(class)
		}
	}
	for key, prop := range map[string]string{oldKeyStreaming: "streaming.process", oldKeyScript: "script.command.line"} {
		if text := d.oldText(key, found); text != "" {
			if _, there := c.Props[prop]; !there {
				c.setProp(prop, text)
			}
		}
	}
}

func (d document) oldText(key string, found *faults) string {
	if !d.has(key) {
		return ""
	}
	text, err := d.text(key)
	found.add(key, "", err)
	return text
}

// strategyOf returns the name of the strategy that is ElasticJob's class. For any other
// class it returns the class name, which WithStrategy can give to a strategy.
func strategyOf(class string) string {
	switch simpleName(class) {
	case "AverageAllocationJobShardingStrategy":
		return strategy.AvgAllocation
	case "OdevitySortByNameJobShardingStrategy":
		return strategy.Odevity
	case "RotateServerByNameJobShardingStrategy":
		return strategy.RoundRobin
	}
	return class
}

func errorHandlerOf(class string) string {
	if simpleName(class) == "DefaultJobExceptionHandler" {
		return ErrorHandlerLog
	}
	return class
}

// simpleName returns the name of a class without its package.
func simpleName(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

// oldTypeOf returns jobType of a document, in capital letters; empty if it has none.
func oldTypeOf(text []byte) string {
	d, err := parseConfig(text)
	if err != nil || !d.has(oldKeyType) {
		return ""
	}
	name, err := d.text(oldKeyType)
	if err != nil {
		return ""
	}
	return strings.ToUpper(name)
}
