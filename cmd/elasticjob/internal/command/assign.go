package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
	"github.com/elasticjob-go/elasticjob/job/property"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// description is a job as a file describes it, while it is changed.
type description struct {
	name string
	file yaml.Node
	keys *yaml.Node // the mapping below jobs.NAME
	gone []string   // keys that were taken away, as they were given

	registry map[string]*yaml.Node // the document that it is of: what a file has no key for may be taken away, too
}

// describe makes a description of a job. It comes with an error if it has mistakes.
func describe(d jobfile.Declared) (*description, error) {
	document, err := jobfile.Declarations{Jobs: []jobfile.Declared{d}}.Write()
	if document == nil {
		return nil, fmt.Errorf("job %s: %w", brief.Text(d.Config.Name), err)
	}
	read, bad := readDescription(d.Config.Name, document)
	return read, cmp.Or(bad, err)
}

// readDescription reads a file that describes one job.
func readDescription(name string, document []byte) (*description, error) {
	d := &description{name: name}
	if err := yaml.Unmarshal(document, &d.file); err != nil {
		return nil, fmt.Errorf("job %s: %w", brief.Text(name), err)
	}
	if d.file.Kind == yaml.DocumentNode {
		d.keys = child(child(d.file.Content[0], "jobs"), name)
	}
	if d.keys == nil || d.keys.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("the description has no keys below jobs: %s", brief.Text(name))
	}
	return d, nil
}

// newDescription is that of a job without any settings.
func newDescription(name string) *description {
	d := &description{name: name, keys: &yaml.Node{Kind: yaml.MappingNode}}
	below := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text(name), d.keys}}
	root := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{text("jobs"), below}}
	d.file = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}}
	return d
}

func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

// child returns the value of a key of a mapping; nil if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n != nil && n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// put sets the value of a key of a mapping.
func put(in *yaml.Node, key string, value yaml.Node) {
	if there := child(in, key); there != nil {
		*there = value
		return
	}
	in.Content = append(in.Content, text(key), &value)
}

// propsKey is the key below which any property may stand, dots in its name included.
const propsKey = "props"

// at returns the mapping that has a key, and the last part of the key: retry.attempts stands below
// retry. It is made if it is not there.
func (d *description) at(key string) (*yaml.Node, string) {
	first, rest, isDeep := strings.Cut(key, ".")
	if !isDeep {
		return d.keys, key
	}
	if below := child(d.keys, first); below == nil || below.Kind != yaml.MappingNode {
		put(d.keys, first, yaml.Node{Kind: yaml.MappingNode})
	}
	return child(d.keys, first), rest
}

// fileKey returns the key of a file for one of the registry, with or without props, and the unit of its numbers; others
// as they are.
func fileKey(key string) (file, unit string) {
	if file, unit = jobfile.KeyOf(strings.TrimPrefix(key, propsKey+".")); file != "" {
		return file, unit
	}
	return key, ""
}

// set takes key=value, with a key of a file or of the registry.
func (d *description) set(assignment string) error {
	key, value, ok := strings.Cut(assignment, "=")
	if key = strings.TrimSpace(key); !ok || key == "" {
		return exit.Errorf(exit.Usage, "%s: allowed is key=value, such as cron=0/5 * * * * ? or retry.attempts=3", brief.Quote(assignment))
	}
	key, unit := fileKey(key)
	isProperty := strings.HasPrefix(key, propsKey+".")
	if _, err := strconv.Atoi(value); err == nil {
		value += unit
	}
	in, last := d.at(key)
	node := text(value)
	if !isProperty {
		node = valueOf(property.Escape(value)) // what the shell has not expanded is not meant to be
	}
	put(in, last, *node)
	return nil
}

// valueOf reads a number, a boolean, or a list: [a, b]. All else is a text, as it is.
func valueOf(value string) *yaml.Node {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(value), &n); err != nil || n.Kind != yaml.DocumentNode {
		return text(value)
	}
	switch v := n.Content[0]; {
	case v.Kind == yaml.SequenceNode && strings.HasPrefix(strings.TrimSpace(value), "["):
		return v
	case v.Kind == yaml.ScalarNode && slices.Contains([]string{"!!int", "!!bool"}, v.Tag) && v.Value == value:
		return v
	}
	return text(value)
}

// unset takes a key away, so that it has its default: null does that in a file, where a key that there is not is a mistake.
func (d *description) unset(key string) {
	d.gone = append(d.gone, key)
	unknown, err := jobtype.UnknownKeys([]byte(strconv.Quote(key) + ": 0"))
	if isRegistrys := d.registry[key] != nil || err == nil && len(unknown) == 0; isRegistrys && child(d.keys, key) == nil {
		return
	}
	key, _ = fileKey(key)
	in, last := d.at(key)
	put(in, last, yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"})
}

// bytes writes the file.
func (d *description) bytes() ([]byte, error) {
	return yamldoc.Marshal(&d.file)
}

// declared reads what the description says, of a job that was another one before. The error says what is wrong with
// which key.
func (d *description) declared(worker jobfile.Options, before jobfile.Declared) (none jobfile.Declared, err error) {
	document, err := d.bytes()
	if err != nil {
		return none, err
	}
	noVariable := func(string) (string, bool) { return "", false }
	all, err := jobfile.DeclareSources(jobfile.Options{Profiles: []string{}, LookupEnv: noVariable}, jobfile.Source{Name: d.name, Text: document})
	if err == nil && (len(all.Jobs) != 1 || all.Jobs[0].Config.Name != d.name) {
		err = fmt.Errorf("the description has to have the job %s, enabled, and no other", brief.Quote(d.name))
	}
	if err == nil {
		err = all.Jobs[0].CheckChange(worker, before)
	}
	if err != nil {
		return none, exit.With(exit.Usage, withoutFile(err))
	}
	return all.Jobs[0], nil
}

// withoutFile leaves the file and the line out: the person has written neither.
func withoutFile(err error) error {
	all, ok := errors.AsType[*jobfile.Error](err)
	if !ok {
		return err
	}
	var list []error
	for _, m := range all.Mistakes {
		_, key, _ := strings.Cut(strings.TrimPrefix(m.Path, "jobs."), ".")
		if key == "" {
			key = m.Path
		}
		list = append(list, fmt.Errorf("%s: %w", key, m.Err))
	}
	return errors.Join(list...)
}
