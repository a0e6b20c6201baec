package jvmmember

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/coord"
)

// document is a configuration as ElasticJob reads it. What is not there is false or 0, except for
// the time difference.
type document struct {
	JobName                 string    `yaml:"jobName"`
	Cron                    string    `yaml:"cron"`
	TimeZone                string    `yaml:"timeZone"`
	ShardingTotalCount      int       `yaml:"shardingTotalCount"`
	ShardingItemParameters  string    `yaml:"shardingItemParameters"`
	JobParameter            string    `yaml:"jobParameter"`
	MonitorExecution        bool      `yaml:"monitorExecution"`
	Failover                bool      `yaml:"failover"`
	Misfire                 bool      `yaml:"misfire"`
	MaxTimeDiffSeconds      int       `yaml:"maxTimeDiffSeconds"`
	ReconcileInterval       int       `yaml:"reconcileIntervalMinutes"`
	JobShardingStrategyType string    `yaml:"jobShardingStrategyType"`
	JobErrorHandlerType     string    `yaml:"jobErrorHandlerType"`
	JobListenerTypes        []string  `yaml:"jobListenerTypes"`
	ExtraConfigurations     yaml.Node `yaml:"jobExtraConfigurations"`
	Description             string    `yaml:"description"`
	Props                   yaml.Node `yaml:"props"`
	Disabled                bool      `yaml:"disabled"`
	Overwrite               bool      `yaml:"overwrite"`
	Label                   string    `yaml:"label"`
	StaticSharding          bool      `yaml:"staticSharding"`
	// The key of the thread pool is another one in each of the two releases.
	Pool304 *string `yaml:"jobExecutorServiceHandlerType"`
	Pool305 *string `yaml:"jobExecutorThreadPoolSizeProviderType"`
}

// pool is the type of the thread pool; empty for the usual one.
func (d document) pool() string {
	for _, p := range []*string{d.Pool304, d.Pool305} {
		if p != nil {
			return *p
		}
	}
	return ""
}

// read reads a configuration. A key that the release does not know is an error, as it is for the
// library that ElasticJob reads YAML with.
func (m *Member) read(text string) (document, error) {
	if d := m.known.Load(); d != nil && d.text == text {
		return d.document, nil // a JVM reads the same document several times in each run
	}
	d, err := m.parse(text)
	if err == nil {
		m.known.Store(&knownDocument{text, d})
	}
	return d, err
}

// knownDocument is a document that was read.
type knownDocument struct {
	text     string
	document document
}

func (m *Member) parse(text string) (document, error) {
	d := document{MaxTimeDiffSeconds: -1}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&d); err != nil {
		return document{}, fmt.Errorf("configuration: %w", err)
	}
	if m.config.Release != V304 && d.Pool304 != nil {
		return document{}, errors.New("configuration: jobExecutorServiceHandlerType is a key of 3.0.4")
	}
	if m.config.Release == V304 && d.Pool305 != nil {
		return document{}, errors.New("configuration: jobExecutorThreadPoolSizeProviderType is a key of 3.0.5")
	}
	return d, nil
}

// load reads the configuration in the registry.
func (m *Member) load(fromCache bool) (document, error) {
	text, there := "", false
	if fromCache {
		text, there = m.cached("config")
	} else {
		text, there = m.direct("config")
	}
	if !there {
		return document{}, fmt.Errorf("configuration: %w", coord.ErrNoNode)
	}
	return m.read(text)
}

// setUp writes the configuration and the class if there is none or the program's own goes first,
// and returns the one that holds.
func (m *Member) setUp() (document, error) {
	own, err := m.read(string(m.config.Document))
	if err != nil {
		return document{}, err
	}
	if m.exists("") {
		class, _ := m.direct("") // if it has gone meanwhile there is no conflict
		if strings.TrimSpace(class) != "" && class != m.config.Class {
			return document{}, fmt.Errorf("the job in the registry is of class %q, this one of %q", class, m.config.Class)
		}
	}
	if !m.exists("config") || own.Overwrite {
		m.persist("config", string(m.config.Document))
		m.persist("", m.config.Class)
		return own, nil
	}
	return m.load(false)
}
