package jobtree

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Request is what a trigger asks for. The zero value is what ElasticJob writes, an
// empty node: run all items of the instance now.
type Request struct {
	// ID tells requests apart, for whoever asked.
	ID string `yaml:"request,omitempty"`
	// Items are those to run; none means all that the instance owns.
	Items []int `yaml:"items,omitempty,flow"`
	// Parameter replaces the job parameter in this run; empty means it does not.
	Parameter string `yaml:"parameter,omitempty"`
}

// Trigger is a request that waits for its instance.
type Trigger struct {
	coord.Node
	// Instance is the id of the instance that is asked.
	Instance string
	Request  Request
	// Err says why the request could not be read; Request is zero then.
	Err error
}

// EncodeRequest writes a request; the zero one as an empty value.
func EncodeRequest(r Request) ([]byte, error) {
	if r.ID == "" && len(r.Items) == 0 && r.Parameter == "" {
		return nil, nil
	}
	document, err := yaml.Marshal(struct {
		ID        quoted `yaml:"request,omitempty"`
		Items     []int  `yaml:"items,omitempty,flow"`
		Parameter quoted `yaml:"parameter,omitempty"`
	}{quoted(r.ID), r.Items, quoted(r.Parameter)})
	if err != nil {
		return nil, fmt.Errorf("trigger request %s: %w", r.ID, err)
	}
	return document, nil
}

// quoted is a text that is written between double quotes. The encoder would write
// lines as a block, and a block that begins with a tab is one that it cannot read.
type quoted string

// MarshalYAML writes the text.
func (q quoted) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: string(q)}, nil
}

// DecodeRequest reads a request. An empty value is the zero request.
func DecodeRequest(value []byte) (Request, error) {
	var r Request
	if err := yaml.Unmarshal(value, &r); err != nil {
		return Request{}, fmt.Errorf("trigger request: %w", err)
	}
	for _, item := range r.Items {
		if item < 0 || item >= MaxItems {
			return Request{}, fmt.Errorf("trigger request %q: item %d: 0 to %d are allowed", r.ID, item, MaxItems-1)
		}
	}
	return r, nil
}
