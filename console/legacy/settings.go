package legacy

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// settings is JobConfigurationPOJO of 3.0.2: the document of a job, as its keys are in the registry.
// Fields that ElasticJob does not have stand in props.
type settings struct {
	JobName                       string            `json:"jobName" yaml:"jobName"`
	Cron                          *string           `json:"cron" yaml:"cron,omitempty"`
	TimeZone                      *string           `json:"timeZone" yaml:"timeZone,omitempty"`
	ShardingTotalCount            number            `json:"shardingTotalCount" yaml:"shardingTotalCount"`
	ShardingItemParameters        *string           `json:"shardingItemParameters" yaml:"shardingItemParameters,omitempty"`
	JobParameter                  *string           `json:"jobParameter" yaml:"jobParameter,omitempty"`
	MonitorExecution              truth             `json:"monitorExecution" yaml:"monitorExecution"`
	Failover                      truth             `json:"failover" yaml:"failover"`
	Misfire                       truth             `json:"misfire" yaml:"misfire"`
	MaxTimeDiffSeconds            number            `json:"maxTimeDiffSeconds" yaml:"maxTimeDiffSeconds"`
	ReconcileIntervalMinutes      number            `json:"reconcileIntervalMinutes" yaml:"reconcileIntervalMinutes"`
	JobShardingStrategyType       *string           `json:"jobShardingStrategyType" yaml:"jobShardingStrategyType,omitempty"`
	JobExecutorServiceHandlerType *string           `json:"jobExecutorServiceHandlerType" yaml:"jobExecutorServiceHandlerType,omitempty"`
	JobErrorHandlerType           *string           `json:"jobErrorHandlerType" yaml:"jobErrorHandlerType,omitempty"`
	JobListenerTypes              []string          `json:"jobListenerTypes" yaml:"jobListenerTypes,omitempty"`
	JobExtraConfigurations        hidden            `json:"jobExtraConfigurations" yaml:"-"` // may have a password
	Description                   *string           `json:"description" yaml:"description,omitempty"`
	Props                         map[string]string `json:"props" yaml:"props,omitempty"`
	Disabled                      truth             `json:"disabled" yaml:"disabled"`
	Overwrite                     truth             `json:"overwrite" yaml:"overwrite"`
	Label                         *string           `json:"label" yaml:"label,omitempty"`
	StaticSharding                truth             `json:"staticSharding" yaml:"staticSharding"`
	// 3.0.5 calls jobExecutorServiceHandlerType so.
	ThreadPool *string `json:"jobExecutorThreadPoolSizeProviderType,omitempty" yaml:"jobExecutorThreadPoolSizeProviderType,omitempty"`

	stored []byte // with the secrets that are hidden in the fields
}

// settingsOf returns what the registry has. A document of 2.1.5 is one of 3.x first, and what it leaves
// out has its default.
func settingsOf(s ops.Settings) (*settings, error) {
	document, err := s.Config.Encode(s.Document)
	if err != nil {
		return nil, err
	}
	c := settings{stored: document}
	if err := yaml.Unmarshal([]byte(veil.Document(string(document))), &c); err != nil {
		return nil, fmt.Errorf("job %s: configuration: %w", s.Job, err)
	}
	c.named()
	if c.JobListenerTypes == nil {
		c.JobListenerTypes = []string{}
	}
	if c.Props == nil {
		c.Props = map[string]string{}
	}
	if s.Config.Threads == 1 {
		single := singleThread
		c.JobExecutorServiceHandlerType = &single
		delete(c.Props, propThreads)
	}
	return &c, nil
}

// One thread has a name in ElasticJob. Other numbers stand in a property.
const (
	singleThread = "SINGLE_THREAD"
	propThreads  = "executor.threads"
)

// named moves the kind of the thread pool to the name that 3.0.2 has for it.
func (c *settings) named() {
	if c.ThreadPool != nil {
		c.JobExecutorServiceHandlerType, c.ThreadPool = c.ThreadPool, nil
	}
}

// put changes what a body names. What it leaves out stays as it is; null is the default of a text, and
// otherwise stands for what is there.
func (c *settings) put(body json.RawMessage) error {
	props, listeners, pool := maps.Clone(c.Props), c.JobListenerTypes, textOf(c.JobExecutorServiceHandlerType)
	c.Props, c.JobListenerTypes = nil, nil
	if err := unmarshal(body, c); err != nil {
		return err
	}
	c.named()
	if c.Props == nil {
		c.Props = props
	}
	if c.JobListenerTypes == nil {
		c.JobListenerTypes = listeners
	}
	if textOf(c.JobExecutorServiceHandlerType) != pool {
		delete(c.Props, propThreads)
	}
	return nil
}

// config returns the configuration that the document says.
func (c *settings) config() (jobtype.Config, error) {
	document, err := yaml.Marshal(c)
	if err != nil {
		return jobtype.Config{}, err
	}
	if document, err = veil.Restore(document, c.stored); err != nil {
		return jobtype.Config{}, fmt.Errorf("%w: %w", errBody, err)
	}
	return jobtype.DecodeConfig(document)
}

func (a *api) readSettings(r *http.Request, d dialect) (any, error) {
	j, err := a.job(r)
	if err != nil {
		return nil, err
	}
	s, err := j.Settings(r.Context())
	if err != nil {
		return nil, err
	}
	c, err := settingsOf(s)
	if err != nil || d != console {
		return c, err
	}
	return oldSettingsOf(c, s)
}

// updateSettings changes what the body names, if nobody has changed the job since it was read here.
func (a *api) updateSettings(r *http.Request, d dialect) (any, error) {
	var body json.RawMessage
	if _, err := decode(r, &body); err != nil {
		return nil, err
	}
	j, err := a.job(r)
	if err != nil {
		return nil, err
	}
	s, err := j.Settings(r.Context())
	if err != nil {
		return nil, err
	}
	c, err := settingsOf(s)
	if err != nil {
		return nil, err
	}
	put := c.put
	if d == console {
		old, err := oldSettingsOf(c, s)
		if err != nil {
			return nil, err
		}
		put = func(body json.RawMessage) error { return old.put(body, c) }
	}
	if err := put(body); err != nil {
		return nil, err
	}
	c.JobName = s.Job
	next, err := c.config()
	if err != nil {
		return nil, err
	}
	return done{}, j.Update(r.Context(), ops.UpdateRequest{Config: next, Version: s.Version})
}
