package jobtree

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// Nodes is the parent of the nodes of processes, for all jobs of the namespace. No job has that
// name, because names of jobs have no tilde.
const Nodes = "~elasticjob/nodes"

// Node is the ephemeral node in which a process says how much it has; see [EncodeNode]. Its id
// has the form of an instance's.
func Node(id string) string { return Nodes + "/" + id }

// NodeDocument is what a process tells all leaders and operators about itself. A reader ignores
// the keys that it does not know.
type NodeDocument struct {
	Items   int    // how many items of all its jobs it has
	Address string // of its host
	// Offers are the types and implementations whose jobs a runner serves, ascending, and Labels
	// are its labels. MoreOffers and MoreLabels are how many more there are, which had no room.
	Offers, Labels         []string
	MoreOffers, MoreLabels int
}

const (
	// maxNode bounds the document of a process in bytes. It leaves room for keys of later
	// versions.
	maxNode = 16 << 10
	// maxNodeID bounds the id of a process in bytes: an address, a number and a random part.
	maxNodeID = MaxIP + 64
	// maxNodeItems bounds the numbers of items in a process, and those of more offers and labels.
	maxNodeItems = 1_000_000_000
	// maxNodeList bounds a list in the document of a process in bytes.
	maxNodeList = 4 << 10
)

// EncodeNode writes the value of a process's node.
func EncodeNode(d NodeDocument) []byte {
	b := append(strconv.AppendInt([]byte("items: "), int64(d.Items), 10), '\n')
	b = appendText(b, "address", d.Address, MaxIP)
	b = appendList(b, "offers", "moreOffers", d.Offers, d.MoreOffers)
	return appendList(b, "labels", "moreLabels", d.Labels, d.MoreLabels)
}

// appendList writes a list of texts, one in a line, and how many more there are than the list
// has room for.
func appendList(b []byte, key, moreKey string, list []string, more int) []byte {
	if len(list) > 0 {
		b = append(append(b, key...), ":\n"...)
	}
	for begin, i := len(b), 0; i < len(list); i++ {
		before := len(b)
		b = append(strconv.AppendQuote(append(b, "- "...), strings.ToValidUTF8(list[i], "?")), '\n')
		if len(b)-begin > maxNodeList {
			b = b[:before]
			more += len(list) - i
			break
		}
	}
	if more > 0 {
		b = append(strconv.AppendInt(append(append(b, moreKey...), ": "...), int64(more), 10), '\n')
	}
	return b
}

// DecodeNode reads the value of a process's node.
func DecodeNode(value []byte) (NodeDocument, error) {
	d, err := decodeNode(value)
	if err != nil {
		return NodeDocument{}, fmt.Errorf("document of a process: %w", err)
	}
	return d, nil
}

func decodeNode(value []byte) (d NodeDocument, err error) {
	if len(value) > maxNode {
		return d, fmt.Errorf("%d bytes, at most %d are allowed", len(value), maxNode)
	}
	document, err := yamldoc.Parse(value)
	if err != nil {
		return d, err
	}
	if d.Items, err = count(document, "items"); err != nil {
		return d, err
	}
	if d.Address, err = yamldoc.Text(document["address"]); err == nil && len(d.Address) > MaxIP {
		err = fmt.Errorf("%d bytes, at most %d are allowed", len(d.Address), MaxIP)
	}
	if err != nil {
		return d, fmt.Errorf("address: %w", err)
	}
	if d.Offers, d.MoreOffers, err = nodeList(document, "offers", "moreOffers"); err != nil {
		return d, err
	}
	d.Labels, d.MoreLabels, err = nodeList(document, "labels", "moreLabels")
	return d, err
}

// nodeList reads a list of texts, and how many more there are. What is no text is left out.
func nodeList(document map[string]*yaml.Node, key, moreKey string) (list []string, more int, err error) {
	if more, err = count(document, moreKey); err != nil {
		return nil, 0, err
	}
	if n := document[key]; n != nil && n.Kind == yaml.SequenceNode {
		for _, text := range n.Content {
			if text = yamldoc.Resolve(text); text.Kind == yaml.ScalarNode && !yamldoc.IsNull(text) {
				list = append(list, text.Value)
			}
		}
	}
	return list, more, nil
}

// count reads a number; 0 if it is missing.
func count(document map[string]*yaml.Node, key string) (int, error) {
	text, err := yamldoc.Text(document[key])
	if err != nil || text == "" {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxNodeItems {
		return 0, fmt.Errorf("%s: %s: an integer from 0 to %d is allowed", key, brief.Quote(text), maxNodeItems)
	}
	return n, nil
}
