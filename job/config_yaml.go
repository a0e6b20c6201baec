package job

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// DecodeConfig reads a configuration as it stands in the registry: the YAML of
// ElasticJob 3.x, or the flat JSON of elastic-job 2.1.x. What a document leaves out has
// the same default as in code, which is not what a JVM makes of it. Keys that are not
// known do not matter.
//
// The error is a *ConfigError with all faults, of reading and of [Config.Validate];
// the configuration is then as far as it could be read.
func DecodeConfig(document []byte) (Config, error) {
	keys, err := parseConfig(document)
	if err != nil {
		return Config{}, &ConfigError{Faults: []*FieldError{{Field: keyConfig, Err: err}}}
	}
	var c Config
	faults := keys.decode(&c)
	c = c.WithDefaults()
	return c, c.check(faults)
}

// Encode writes the configuration for the registry: with the keys that ElasticJob
// 3.0.x knows and no others, since its reader refuses a document that has one, and with
// what it does not have in props. [DecodeConfig] returns it with its defaults.
//
// previous is the document that is replaced, or nothing. Keys of it that Config has no
// field for are kept, so that others who read the document lose nothing, and what has
// not changed stays as it is written there. A document of elastic-job 2.1.x becomes one
// of 3.0.x.
//
// Errors: that of Validate; one for a previous document that cannot be read, which only
// those who mean to overwrite it leave out; one if the document is too large with what
// is kept.
func (c Config) Encode(previous []byte) ([]byte, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	old := document{}
	if len(bytes.TrimSpace(previous)) > 0 {
		var err error
		if old, err = parseConfig(previous); err != nil {
			return nil, fmt.Errorf("job: configuration of %q that is replaced: %w", c.Name, err)
		}
	}
	text, err := old.replacedBy(c).marshal()
	if err == nil {
		err = readable(text, c)
	}
	if err != nil {
		return nil, fmt.Errorf("job: configuration of %q: %w", c.Name, err)
	}
	return text, nil
}

// readable reports whether what was written will be read as it was meant. What is kept
// of a previous document may be of any kind, and nobody may lose a job by that.
func readable(text []byte, c Config) error {
	keys, err := parseConfig(text)
	if err != nil {
		return err
	}
	var got Config
	if found := keys.decode(&got); len(found) > 0 || !got.Equal(c) {
		return errors.New("what is kept of the previous document makes it unreadable")
	}
	return nil
}

// parseConfig reads a document that is no larger than one that may be written.
func parseConfig(text []byte) (document, error) {
	if err := checkSize(len(text)); err != nil {
		return nil, err
	}
	return yamldoc.Parse(text)
}

func checkSize(bytes int) error {
	if bytes > MaxConfigSize {
		return fmt.Errorf("configuration of %d bytes, at most %d are allowed", bytes, MaxConfigSize)
	}
	return nil
}

// document is a mapping of YAML: its values by key.
type document map[string]*yaml.Node

// has reports whether the document has something under the key.
func (d document) has(key string) bool {
	n, ok := d[key]
	return ok && !yamldoc.IsNull(n)
}

// text returns a single value.
func (d document) text(key string) (string, error) { return yamldoc.Text(d[key]) }

// decode fills c with what the document has, and returns what could not be read.
func (d document) decode(c *Config) faults {
	var found faults
	props, err := d.props()
	found.add(keyProps, "", err)
	d.decodeFields(c.fields(), &found)
	d.decodeThreadPool(c, &found)
	d.decodeListeners(c, &found)
	props.decodeFields(c.propFields(), &found)
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

func (f faults) of(field string) bool {
	return slices.ContainsFunc(f, func(e *FieldError) bool { return e.Field == field })
}

// props returns what stands in props, under the keys that fields have.
func (d document) props() (document, error) {
	if !d.has(keyProps) {
		return nil, nil
	}
	props, err := yamldoc.Mapping(d[keyProps])
	prefixed := make(document, len(props))
	for key, value := range props {
		prefixed[propsPrefix+key] = value
	}
	return prefixed, err
}

func (d document) decodeFields(fields []field, found *faults) {
	for _, f := range fields {
		if !d.has(f.key) {
			continue
		}
		text, err := d.text(f.key)
		if err != nil {
			found.add(f.key, "", err)
			continue
		}
		found.add(f.key, quote(text), f.set(text))
	}
}

// decodeProps reads those that are not ours.
func (d document) decodeProps(c *Config, found *faults) {
	own := ownProps()
	for _, key := range slices.Sorted(maps.Keys(d)) {
		if slices.Contains(own, key) || !d.has(key) {
			continue
		}
		text, err := d.text(key)
		if err != nil {
			found.add(brief.Text(key), "", err)
			continue
		}
		c.setProp(strings.TrimPrefix(key, propsPrefix), text)
	}
}

func (c *Config) setProp(key, value string) {
	if c.Props == nil {
		c.Props = make(map[string]string)
	}
	c.Props[key] = value
}

// threadPoolKey returns the name under which the document has the thread pool, if it
// does.
func (d document) threadPoolKey() (key string, ok bool) {
	for _, key := range []string{keyThreadPool, keyThreadPoolOld} {
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
		found.add(key, quote(text), fmt.Errorf("%s and %s are allowed, and %s for another number", threadPoolCPU, threadPoolSingle, keyThreads))
	}
}

func (d document) decodeListeners(c *Config, found *faults) {
	if !d.has(keyListeners) {
		return
	}
	var names []string
	list := d[keyListeners]
	for _, n := range list.Content {
		if n = yamldoc.Resolve(n); n.Kind == yaml.ScalarNode && !yamldoc.IsNull(n) {
			names = append(names, n.Value)
		}
	}
	if list.Kind != yaml.SequenceNode || len(names) != len(list.Content) {
		found.add(keyListeners, "", errors.New("a list of names is allowed"))
		return
	}
	c.Listeners = names
}
