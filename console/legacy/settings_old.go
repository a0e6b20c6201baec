package legacy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/strategy"
)

// oldSettings is JobSettings of 2.1.5.
type oldSettings struct {
	JobName                  string  `json:"jobName"`
	JobType                  string  `json:"jobType"`
	JobClass                 string  `json:"jobClass"`
	Cron                     *string `json:"cron,omitempty"`
	ShardingTotalCount       number  `json:"shardingTotalCount"`
	ShardingItemParameters   string  `json:"shardingItemParameters"`
	JobParameter             string  `json:"jobParameter"`
	MonitorExecution         truth   `json:"monitorExecution"`
	StreamingProcess         truth   `json:"streamingProcess"`
	MaxTimeDiffSeconds       number  `json:"maxTimeDiffSeconds"`
	MonitorPort              number  `json:"monitorPort"`
	Failover                 truth   `json:"failover"`
	Misfire                  truth   `json:"misfire"`
	JobShardingStrategyClass string  `json:"jobShardingStrategyClass"`
	Description              string  `json:"description"`
	JobProperties            struct {
		ExecutorServiceHandler string `json:"executor_service_handler"`
		JobExceptionHandler    string `json:"job_exception_handler"`
	} `json:"jobProperties"`
	ScriptCommandLine        *string `json:"scriptCommandLine,omitempty"`
	ReconcileIntervalMinutes number  `json:"reconcileIntervalMinutes"`
}

// What 2.1.5 calls the defaults.
const (
	executorClass  = "com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"
	exceptionClass = "com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler"
	scriptClass    = "com.dangdang.ddframe.job.api.script.ScriptJob"
	noPort         = -1
)

// strategyClasses are the strategies of 2.1.5 by our names. Without a class it takes the first one.
func strategyClasses() map[string]string {
	const folder = "com.dangdang.ddframe.job.lite.api.strategy.impl."
	return map[string]string{
		strategy.AvgAllocation: folder + "AverageAllocationJobShardingStrategy",
		strategy.Odevity:       folder + "OdevitySortByNameJobShardingStrategy",
		strategy.RoundRobin:    folder + "RotateServerByNameJobShardingStrategy",
	}
}

// Types of jobs, and the properties that tell them.
const (
	typeSimple    = "SIMPLE"
	typeDataflow  = "DATAFLOW"
	typeScript    = "SCRIPT"
	propStreaming = "streaming.process"
	propScript    = "script.command.line"
)

// written is what a document of 2.1.5 has that one of 3.x has not.
type written struct {
	JobType       string `yaml:"jobType"`
	JobClass      string `yaml:"jobClass"`
	MonitorPort   *int   `yaml:"monitorPort"`
	StrategyClass string `yaml:"jobShardingStrategyClass"`
	JobProperties struct {
		Executor  string `yaml:"executor_service_handler"`
		Exception string `yaml:"job_exception_handler"`
	} `yaml:"jobProperties"`
}

// oldSettingsOf returns settings as 2.1.5 has them. What its document says stays as it is written.
func oldSettingsOf(c *settings, s ops.Settings) (*oldSettings, error) {
	var w written
	if err := yaml.Unmarshal(s.Document, &w); err != nil {
		return nil, fmt.Errorf("job %s: configuration: %w", s.Job, err)
	}
	old := &oldSettings{
		JobName: s.Job, Cron: c.Cron, ShardingTotalCount: c.ShardingTotalCount,
		ShardingItemParameters: textOf(c.ShardingItemParameters), JobParameter: textOf(c.JobParameter), Description: textOf(c.Description),
		MonitorExecution: c.MonitorExecution, Failover: c.Failover, Misfire: c.Misfire,
		MaxTimeDiffSeconds: c.MaxTimeDiffSeconds, ReconcileIntervalMinutes: c.ReconcileIntervalMinutes,
		StreamingProcess: c.Props[propStreaming] == "true", MonitorPort: noPort,
		JobShardingStrategyClass: cmp.Or(w.StrategyClass, classOf(textOf(c.JobShardingStrategyType))),
	}
	if line, ok := c.Props[propScript]; ok {
		old.ScriptCommandLine = &line
	}
	if w.MonitorPort != nil {
		old.MonitorPort = number(*w.MonitorPort)
	}
	old.JobType, old.JobClass = typeOf(c, s, w)
	old.JobProperties.ExecutorServiceHandler = cmp.Or(w.JobProperties.Executor, executorClass)
	old.JobProperties.JobExceptionHandler = w.JobProperties.Exception
	if w.JobProperties.Exception == "" {
		old.JobProperties.JobExceptionHandler = exceptionOf(textOf(c.JobErrorHandlerType))
	}
	return old, nil
}

// typeOf returns the type of a job, and its class. A document of 3.x has neither: its properties tell the
// type, and the implementation is the class.
func typeOf(c *settings, s ops.Settings, w written) (kind, class string) {
	_, isScript := c.Props[propScript]
	_, isDataflow := c.Props[propStreaming]
	switch {
	case w.JobType != "":
		kind = strings.ToUpper(w.JobType)
	case isScript, s.Implementation == typeScript:
		kind = typeScript
	case isDataflow, s.Implementation == typeDataflow:
		kind = typeDataflow
	default:
		kind = typeSimple
	}
	class = cmp.Or(w.JobClass, s.Implementation)
	if kind == typeScript && (class == "" || class == typeScript) {
		class = scriptClass
	}
	return kind, class
}

func textOf(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// classOf returns the class of a strategy; one that 2.1.5 does not have is its own name.
func classOf(name string) string {
	if name == "" || name == strategy.AvgAllocation {
		return ""
	}
	return cmp.Or(strategyClasses()[name], name)
}

// strategyOf returns the strategy of a class; nil is the default.
func strategyOf(class string) *string {
	if class == "" {
		return nil
	}
	for name, known := range strategyClasses() {
		if simpleName(known) == simpleName(class) {
			return &name
		}
	}
	return &class
}

func exceptionOf(handler string) string {
	if handler == "" || handler == jobtype.ErrorHandlerLog {
		return exceptionClass
	}
	return handler
}

func handlerOf(class string) *string {
	if class == "" || simpleName(class) == simpleName(exceptionClass) {
		return nil
	}
	return &class
}

// simpleName returns the name of a class without its package.
func simpleName(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

// put changes what a body names, in c. What it leaves out stays as it is.
func (was *oldSettings) put(body json.RawMessage, c *settings) error {
	is := *was
	if err := unmarshal(body, &is); err != nil {
		return err
	}
	if err := was.keeps(&is); err != nil {
		return fmt.Errorf("%w: %w", errBody, err)
	}
	c.Cron, c.ShardingTotalCount = is.Cron, is.ShardingTotalCount
	c.ShardingItemParameters, c.JobParameter, c.Description = &is.ShardingItemParameters, &is.JobParameter, &is.Description
	c.MonitorExecution, c.Failover, c.Misfire = is.MonitorExecution, is.Failover, is.Misfire
	c.MaxTimeDiffSeconds, c.ReconcileIntervalMinutes = is.MaxTimeDiffSeconds, is.ReconcileIntervalMinutes
	if is.JobShardingStrategyClass != was.JobShardingStrategyClass {
		c.JobShardingStrategyType = strategyOf(is.JobShardingStrategyClass)
	}
	if is.JobProperties.JobExceptionHandler != was.JobProperties.JobExceptionHandler {
		c.JobErrorHandlerType = handlerOf(is.JobProperties.JobExceptionHandler)
	}
	if is.StreamingProcess != was.StreamingProcess {
		c.Props[propStreaming] = strconv.FormatBool(bool(is.StreamingProcess))
	}
	// Its pages send an empty line with jobs that are no scripts.
	if line := textOf(is.ScriptCommandLine); line != textOf(was.ScriptCommandLine) {
		c.Props[propScript] = line
	}
	return nil
}

// keeps returns an error if something is to change that cannot change here: it would be lost in silence.
func (was *oldSettings) keeps(is *oldSettings) error {
	executor := is.JobProperties.ExecutorServiceHandler
	switch {
	case is.JobType != was.JobType:
		return fmt.Errorf("jobType: %s: it is %s, and does not change here", brief.Quote(is.JobType), was.JobType)
	case is.JobClass != was.JobClass:
		return fmt.Errorf("jobClass: %s: it is %s, and does not change here; give the job another implementation instead", brief.Quote(is.JobClass), brief.Quote(was.JobClass))
	case is.MonitorPort != was.MonitorPort && is.MonitorPort >= 0:
		return fmt.Errorf("monitorPort: %d: a job has no port here; -1 is allowed", is.MonitorPort)
	case executor != was.JobProperties.ExecutorServiceHandler && executor != "" && simpleName(executor) != simpleName(executorClass):
		return fmt.Errorf("jobProperties.executor_service_handler: %s: a job has no class for its threads here; %s is allowed", brief.Quote(executor), executorClass)
	}
	return nil
}
