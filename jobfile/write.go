package jobfile

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// marshal writes a file.
func marshal(root *yaml.Node) ([]byte, error) {
	return yamldoc.Marshal(root, yaml.WithCompactSeqIndent(true))
}

// textNode is a text that is read as it is, whatever is in it. One of several lines is written
// as lines, if that is read as the same text.
func textNode(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if !strings.ContainsAny(text, "\n\r\u0085\u2028\u2029") {
		return n
	}
	n.Style = yaml.LiteralStyle
	// The encoder writes some texts as blocks that are read as other texts. Here it is below a key.
	var back map[string]string
	if written, err := marshal(mappingNode([]*yaml.Node{nameNode("text"), n})); err != nil || yaml.Unmarshal(written, &back) != nil || back["text"] != text {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func nameNode(key string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}
}

// plainNode is a number or a boolean.
func plainNode(tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}

// mappingNode has keys and values in turn.
func mappingNode(content []*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: content}
}

func (fs fields) written() *yaml.Node {
	var content []*yaml.Node
	for _, f := range fs {
		if n := f.shape.written(); n != nil {
			content = append(content, nameNode(f.key), n)
		}
	}
	return mappingNode(content)
}

// besides returns the fields that have other values than those of the defaults. Both are fields
// of the same things.
func (fs fields) besides(defaults fields) fields {
	var left fields
	for i, f := range fs {
		if below, ok := f.shape.(fields); ok {
			if f.shape = below.besides(defaults[i].shape.(fields)); len(f.shape.(fields)) == 0 {
				continue
			}
		} else if isSame(f.shape.written(), defaults[i].shape.written()) {
			continue
		}
		left = append(left, f)
	}
	return left
}

// isSame reports whether two written values are equal.
func isSame(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Value == b.Value && slices.EqualFunc(a.Content, b.Content, isSame)
}

func (p part[T]) written() *yaml.Node {
	if *p.to == nil {
		return nil
	}
	return p.fields(*p.to).written()
}

// written returns nil: who has the names writes what they stand for.
func (n named) written() *yaml.Node { return nil }

func (s several) written() *yaml.Node {
	if len(*s.to) == 0 {
		return nil
	}
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, t := range *s.to {
		n.Content = append(n.Content, text{&t}.written())
	}
	return n
}

func (p patterns) written() *yaml.Node { return several(p).written() }

// written does not escape references: see expander.
func (t texts) written() *yaml.Node {
	if len(*t.to) == 0 {
		return nil
	}
	var content []*yaml.Node
	for _, key := range slices.Sorted(maps.Keys(*t.to)) {
		content = append(content, nameNode(key), textNode((*t.to)[key]))
	}
	return mappingNode(content)
}

func (t text) written() *yaml.Node { return textNode(property.Escape(*t.to)) }

func (o oneOf) written() *yaml.Node { return textNode(*o.to) }

func (b boolean) written() *yaml.Node { return plainNode("!!bool", strconv.FormatBool(b.get())) }

func (i integer) written() *yaml.Node { return plainNode("!!int", strconv.Itoa(*i.to)) }

func (u units) written() *yaml.Node {
	return plainNode("!!int", strconv.FormatInt(int64(max(*u.to, 0)/u.unit), 10))
}

func (d duration) written() *yaml.Node {
	t := max(*d.to, 0).String()
	if strings.HasSuffix(t, "m0s") {
		t = strings.TrimSuffix(t, "0s")
	}
	if strings.HasSuffix(t, "h0m") {
		t = strings.TrimSuffix(t, "0m")
	}
	return textNode(t)
}

func (m moment) written() *yaml.Node {
	if m.to.IsZero() {
		return nil
	}
	return textNode(m.to.UTC().Format(time.RFC3339Nano))
}

func (a accessList) written() *yaml.Node { return textNode(a.to.String()) }
