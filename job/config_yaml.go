package job

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// replacedBy returns the document that has the configuration in it.
func (d document) replacedBy(c Config) document {
	var was Config
	found := d.decode(&was)
	was = was.WithDefaults()
	defaults := defaultConfig()

	out := make(document)
	for key, value := range d {
		if !known(key) {
			out[key] = value
		}
	}
	out.replaceFields(c.fields(), was.fields(), defaults.fields(), d, found)
	if old, ok := d[keyListeners]; ok && slices.Equal(c.Listeners, was.Listeners) && !found.of(keyListeners) {
		out[keyListeners] = old
	} else if len(c.Listeners) > 0 {
		out[keyListeners] = list(c.Listeners)
	}

	props, oldProps := make(document), document(nil)
	if !found.of(keyProps) {
		oldProps, _ = d.props()
	}
	props.replaceFields(c.propFields(), was.propFields(), defaults.propFields(), oldProps, found)
	for name, value := range c.Props {
		key := propsPrefix + name
		props[key] = scalar("!!str", value)
		if old, ok := oldProps[key]; ok && old.Kind == yaml.ScalarNode && old.Value == value {
			props[key] = old
		}
	}
	replaceThreads(out, props, c.Threads, was.Threads, d, oldProps, found)
	if old, ok := d[keyProps]; ok && len(props) == 0 && len(oldProps) == 0 && !found.of(keyProps) {
		out[keyProps] = old
	} else if len(props) > 0 {
		bare := make(document, len(props))
		for key, value := range props {
			bare[strings.TrimPrefix(key, propsPrefix)] = value
		}
		out[keyProps] = bare.node()
	}
	return out
}

// replaceFields puts fields into d: as they are in the old document where they mean the
// same, and those that have their defaults only if they always are there.
func (d document) replaceFields(fields, was, defaults []field, old document, found faults) {
	for i, f := range fields {
		text := f.get()
		if value, ok := old[f.key]; ok && text == was[i].get() && !found.of(f.key) {
			d[f.key] = value
		} else if f.always || text != defaults[i].get() {
			d[f.key] = scalar(f.tag, text)
		}
	}
}

// replaceThreads puts the number of threads into out and its props: in ElasticJob's
// words if the old document used them, because only that tells which of the two names
// its readers know, and else in ours.
func replaceThreads(out, props document, threads, was int, old, oldProps document, found faults) {
	delete(props, keyThreads)
	pool, ok := old.threadPoolKey()
	if threads == was && !found.of(pool) && !found.of(keyThreads) {
		out.take(old, keyThreadPool)
		out.take(old, keyThreadPoolOld)
		props.take(oldProps, keyThreads)
		return
	}
	switch {
	case !ok:
	case threads == 0:
		out[pool] = scalar("!!str", threadPoolCPU)
	case threads == 1:
		out[pool] = scalar("!!str", threadPoolSingle)
		return
	case !found.of(pool):
		out[pool] = old[pool]
	}
	if threads > 0 {
		props[keyThreads] = scalar("!!str", strconv.Itoa(threads))
	}
}

// take copies a key that is there.
func (d document) take(from document, key string) {
	if value, ok := from[key]; ok {
		d[key] = value
	}
}

// known reports whether the key is one that a Config has a place for, or one of
// elastic-job 2.1.x, whose place is elsewhere.
func known(key string) bool {
	var c Config
	return slices.Contains([]string{keyProps, keyListeners, keyThreadPool, keyThreadPoolOld}, key) ||
		slices.ContainsFunc(c.fields(), func(f field) bool { return f.key == key }) ||
		slices.Contains(oldKeys(), key)
}

// scalar makes a single value, in the style of ElasticJob's own documents.
func scalar(tag, text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
	switch {
	case tag != "!!str":
	case strings.Contains(text, "\n"):
		n.Style = yaml.DoubleQuotedStyle
	case !plain(text):
		n.Style = yaml.SingleQuotedStyle
	}
	return n
}

// plain reports whether a text without quotes is that text to every reader.
func plain(text string) bool {
	written, err := yaml.Marshal(text)
	return err == nil && string(written) == text+"\n"
}

func list(texts []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, text := range texts {
		n.Content = append(n.Content, scalar("!!str", text))
	}
	return n
}

// node makes a mapping, with its keys in alphabetical order.
func (d document) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range slices.Sorted(maps.Keys(d)) {
		n.Content = append(n.Content, scalar("!!str", key), d[key])
	}
	return n
}

func (d document) marshal() ([]byte, error) {
	nodes := 0
	root, err := unshared(d.node(), &nodes)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// unshared copies a node without aliases, because what they point at may have been
// replaced or come later now, and without comments, which no program reads.
func unshared(n *yaml.Node, nodes *int) (*yaml.Node, error) {
	const most = 100_000
	if *nodes++; *nodes > most {
		return nil, fmt.Errorf("more than %d values, with what aliases repeat", most)
	}
	n = yamldoc.Resolve(n)
	c := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value}
	if blocks := yaml.LiteralStyle | yaml.FoldedStyle; c.Style&blocks != 0 {
		// Not every block that the encoder writes is read as the same text again.
		c.Style = c.Style&^blocks | yaml.DoubleQuotedStyle
	}
	if c.Value == "" && yamldoc.IsNull(c) {
		c.Value = "null" // the encoder makes an empty text of it within braces
	}
	for _, child := range n.Content {
		child, err := unshared(child, nodes)
		if err != nil {
			return nil, err
		}
		c.Content = append(c.Content, child)
	}
	return c, nil
}
