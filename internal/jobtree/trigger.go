package jobtree

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// TriggerDocument is what a trigger asks for. The zero value stands for the empty node that
// ElasticJob writes: run all items of the instance now.
type TriggerDocument struct {
	// ID lets the caller recognize the request.
	ID string
	// Items are the items to run; none means all that the instance owns.
	Items []int
	// Parameter replaces the job parameter in this run, unless it is empty.
	Parameter string
}

// Trigger is a request that waits for its instance.
type Trigger struct {
	coord.Node
	// Instance is the id of the instance that is asked.
	Instance string
	TriggerDocument
	// Err says why the document could not be read; it is zero then.
	Err error
}

func decodeTrigger(instance string, n coord.Node) Trigger {
	t := Trigger{Node: n, Instance: instance}
	t.TriggerDocument, t.Err = DecodeTrigger(n.Value)
	return t
}

// EncodeTrigger writes the value of a trigger's node. The zero document is an empty value.
func EncodeTrigger(r TriggerDocument) ([]byte, error) {
	if r.ID == "" && len(r.Items) == 0 && r.Parameter == "" {
		return nil, nil
	}
	document, err := yaml.Marshal(struct {
		ID        quoted `yaml:"request,omitempty"`
		Items     []int  `yaml:"items,omitempty,flow"`
		Parameter quoted `yaml:"parameter,omitempty"`
	}{quoted(r.ID), r.Items, quoted(r.Parameter)})
	if err != nil {
		return nil, fmt.Errorf("trigger %s: %w", brief.Quote(r.ID), err)
	}
	return document, nil
}

// quoted is a text that is written between double quotes. Without them the encoder would
// write several lines as a block, and it cannot read a block that begins with a tab.
type quoted string

// MarshalYAML writes the text.
func (q quoted) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: string(q)}, nil
}

// maxRequestID bounds the id of a request in bytes, because log lines show it.
const maxRequestID = 255

// DecodeTrigger reads the value of a trigger's node. An empty value is the zero document. The
// items of the result are ascending, each once.
func DecodeTrigger(value []byte) (TriggerDocument, error) {
	if len(value) == 0 {
		return TriggerDocument{}, nil
	}
	r, err := readTrigger(value)
	if err != nil {
		return TriggerDocument{}, fmt.Errorf("trigger: %w", err)
	}
	return r, nil
}

func readTrigger(value []byte) (r TriggerDocument, err error) {
	document, err := yamldoc.Parse(value)
	if errors.Is(err, yamldoc.ErrEmpty) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if r.ID, err = yamldoc.Text(document["request"]); err != nil {
		return r, fmt.Errorf("request: %w", err)
	}
	if len(r.ID) > maxRequestID {
		return r, fmt.Errorf("request: %d bytes, at most %d are allowed", len(r.ID), maxRequestID)
	}
	if r.Parameter, err = yamldoc.Text(document["parameter"]); err != nil {
		return r, fmt.Errorf("parameter: %w", err)
	}
	if r.Items, err = requestedItems(document["items"]); err != nil {
		return r, fmt.Errorf("items: %w", err)
	}
	return r, nil
}

func requestedItems(list *yaml.Node) ([]int, error) {
	if yamldoc.IsNull(list) {
		return nil, nil
	}
	if list.Kind != yaml.SequenceNode {
		return nil, errors.New("a list of items is allowed")
	}
	var items []int
	var bad brief.List
	for _, n := range list.Content {
		n = yamldoc.Resolve(n)
		item, ok := ParseItem(n.Value)
		if n.Kind != yaml.ScalarNode || !ok {
			bad.Add(n.Value)
			continue
		}
		items = append(items, item)
	}
	if !bad.Empty() {
		return nil, fmt.Errorf("%v: integers from 0 to %d are allowed", &bad, MaxItems-1)
	}
	slices.Sort(items)
	return slices.Compact(items), nil
}
