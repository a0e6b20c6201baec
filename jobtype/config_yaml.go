package jobtype

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// DecodeConfig reads a configuration as it stands in the registry: the YAML of
// ElasticJob 3.x, or the flat JSON of elastic-job 2.1.x. A key that is left out has the same
// default as in code. (In ElasticJob it may have another one.) Unknown keys are ignored.
//
// The error is a *ConfigError with the faults of reading and those of [Config.Validate]. The
// configuration has what could be read even then.
func DecodeConfig(document []byte) (Config, error) {
	keys, err := parse(document)
	if err != nil {
		return Config{}, &ConfigError{Faults: []*FieldError{{Field: jobconf.KeyConfig, Err: err}}, Partial: true}
	}
	var c Config
	faults := keys.decode(&c)
	c = c.WithDefaults()
	return c, c.check(faults)
}

// Encode writes the configuration for the registry. It writes only keys that ElasticJob
// 3.0.x knows, because its reader refuses a document with another key. Fields that
// ElasticJob does not have go into props. [DecodeConfig] returns the configuration with its
// defaults.
//
// previous is the document that is replaced, or empty. If it says the same it is returned as it is. Otherwise its keys that
// Config has no field for are kept, so other readers of the document lose nothing, but not how they are written: comments,
// aliases and styles go. A document of elastic-job 2.1.x becomes one of 3.0.x.
//
// without are keys of previous that are not kept. They may name what Config has no field for, and the two names that
// ElasticJob has for the thread pool, which Encode writes if previous has them; others have no effect.
//
// Errors: that of Validate; if previous cannot be read (pass nil to overwrite it all the
// same); if the document with what is kept is too large.
func (c Config) Encode(previous []byte, without ...string) ([]byte, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	old := document{}
	if len(bytes.TrimSpace(previous)) > 0 {
		var err error
		if old, err = parse(previous); err != nil {
			return nil, fmt.Errorf("job: configuration of %q that is replaced: %w", c.Name, err)
		}
		if !old.drop(without) && !jobconf.HasOldKeys(old) && old.says(c) {
			return previous, nil
		}
	}
	text, err := old.write(c)
	if err == nil && len(old) > 0 {
		err = checkReadable(text, c)
	}
	if err != nil {
		return nil, fmt.Errorf("job: configuration of %q: %w", c.Name, err)
	}
	return text, nil
}

// checkReadable checks that a document is read as the configuration that was written. What was kept of a previous
// document may be anything, and nobody may lose a job because of it.
func checkReadable(text []byte, c Config) error {
	keys, err := parse(text)
	if err != nil {
		return err
	}
	if !keys.says(c) {
		return errors.New("what is kept of the previous document makes it unreadable")
	}
	return nil
}

// says reports whether the document is one of a configuration.
func (d document) says(c Config) bool {
	var got Config
	return len(d.decode(&got)) == 0 && got.Equal(c)
}

// document is a YAML mapping: the values by key.
type document map[string]*yaml.Node

// parse reads a document. It refuses one that is larger than Encode writes.
func parse(text []byte) (document, error) {
	keys, err := jobconf.Parse(text)
	return keys, err
}

// has reports whether the document has the key, with another value than null.
func (d document) has(key string) bool {
	n, ok := d[key]
	return ok && !yamldoc.IsNull(n)
}

// text returns the value of a key as text.
func (d document) text(key string) (string, error) { return yamldoc.Text(d[key]) }

// decode fills c with what the document has, and returns what could not be read.
func (d document) decode(c *Config) faults {
	var found faults
	props, err := d.props()
	found.add(jobconf.KeyProps, "", err)
	d.decodeFields(fields, c, &found)
	d.decodeThreadPool(c, &found)
	d.decodeListeners(c, &found)
	props.decodeFields(propFields, c, &found)
	props.decodeProps(c, &found)
	d.decodeOld(c, &found)
	return found
}

// faults are what could not be read.
type faults []*FieldError

func (f *faults) add(field, value string, err error) {
	if err != nil {
		*f = append(*f, &FieldError{Field: field, Value: value, Err: err})
	}
}

// props returns the mapping in props, with jobconf.PropsPrefix before each key.
func (d document) props() (document, error) {
	if !d.has(jobconf.KeyProps) {
		return nil, nil
	}
	props, err := yamldoc.Mapping(d[jobconf.KeyProps])
	prefixed := make(document, len(props))
	for key, value := range props {
		prefixed[jobconf.PropsPrefix+key] = value
	}
	return prefixed, err
}

func (d document) decodeFields(fields []field, c *Config, found *faults) {
	for _, f := range fields {
		if !d.has(f.key) {
			continue
		}
		text, err := d.text(f.key)
		if err != nil {
			found.add(f.key, "", err)
			continue
		}
		found.add(f.key, brief.Quote(text), f.set(c, text))
	}
}

// decodeProps reads the properties that belong to no field.
func (d document) decodeProps(c *Config, found *faults) {
	for _, key := range slices.Sorted(maps.Keys(d)) {
		if isOwnProp(key) || !d.has(key) {
			continue
		}
		text, err := d.text(key)
		if err != nil {
			found.add(brief.Text(key), "", err)
			continue
		}
		c.setProp(strings.TrimPrefix(key, jobconf.PropsPrefix), text)
	}
}

func (c *Config) setProp(key, value string) {
	if c.Props == nil {
		c.Props = make(map[string]string)
	}
	c.Props[key] = value
}

// threadPoolKey returns the key of the thread pool, if the document has one.
func (d document) threadPoolKey() (key string, ok bool) {
	for _, key := range []string{jobconf.KeyThreadPool, jobconf.KeyThreadPoolOld} {
		if _, ok := d[key]; ok {
			return key, true
		}
	}
	return "", false
}

func (d document) decodeThreadPool(c *Config, found *faults) {
	key, ok := d.threadPoolKey()
	if !ok || !d.has(key) {
		return
	}
	switch text, err := d.text(key); {
	case err != nil:
		found.add(key, "", err)
	case text == "" || text == threadPoolCPU:
	case text == threadPoolSingle:
		c.Threads = 1
	default:
		found.add(key, brief.Quote(text), fmt.Errorf("%s and %s are allowed, and %s for another number", threadPoolCPU, threadPoolSingle, jobconf.KeyThreads))
	}
}

func (d document) decodeListeners(c *Config, found *faults) {
	if !d.has(jobconf.KeyListeners) {
		return
	}
	var names []string
	list := d[jobconf.KeyListeners]
	for _, n := range list.Content {
		if n = yamldoc.Resolve(n); n.Kind == yaml.ScalarNode && !yamldoc.IsNull(n) {
			name, err := yamldoc.Text(n)
			if err != nil {
				found.add(jobconf.KeyListeners, "", err)
				return
			}
			names = append(names, name)
		}
	}
	if list.Kind != yaml.SequenceNode || len(names) != len(list.Content) {
		found.add(jobconf.KeyListeners, "", errors.New("a list of names is allowed"))
		return
	}
	c.Listeners = names
}
