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

// oldKeys are not written: what they say has other places in a document of 3.0.x, or
// none. jobClass and jobType are the value of the job's node there, monitorPort is
// gone, and a class that makes thread pools has no meaning outside of a JVM, where one
// that cannot be loaded means the default, too.
func oldKeys() []string {
	return []string{oldKeyClass, oldKeyType, oldKeyStrategyClass, oldKeyMonitorPort, oldKeyProperties, oldKeyStreaming, oldKeyScript}
}

// decodeOld reads what 2.1.x says in its own way, where 3.x has not said it.
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

// strategyOf names the strategy of a class: that of ElasticJob's own ones, and the name
// of the class for others, under which a strategy can be registered.
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

// simpleName is the name of a class without its package.
func simpleName(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }
