package jobtype

import (
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// decodeOld reads the keys of 2.1.x into fields that the keys of 3.x have not set.
func (d document) decodeOld(c *Config, found *faults) {
	if class := d.oldText(jobconf.KeyOldStrategyClass, found); class != "" && c.Strategy == "" {
		c.Strategy = strategyOf(class)
	}
	if d.has(jobconf.KeyOldProperties) {
		properties, err := yamldoc.Mapping(d[jobconf.KeyOldProperties])
		found.add(jobconf.KeyOldProperties, "", err)
		if class := document(properties).oldText(jobconf.KeyOldErrorHandler, found); class != "" && c.ErrorHandler == "" {
			c.ErrorHandler = errorHandlerOf(class)
		}
	}
	for key, prop := range map[string]string{jobconf.KeyOldStreaming: "streaming.process", jobconf.KeyOldScript: "script.command.line"} {
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
