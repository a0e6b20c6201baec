package jobtree

import (
	"fmt"
	"strconv"

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

// NodeDocument is what a process tells all leaders about itself. A reader ignores the keys that
// it does not know.
type NodeDocument struct {
	Items    int    // how many items of all its jobs it has
	MaxItems int    // how many it may have; 0 is no bound
	Address  string // of its host
}

const (
	// maxNode bounds the document of a process in bytes. It leaves room for keys of later
	// versions.
	maxNode = 16 << 10
	// maxNodeID bounds the id of a process in bytes: an address, a number and a random part.
	maxNodeID = MaxIP + 64
	// maxNodeItems bounds the numbers of items in a process.
	maxNodeItems = 1_000_000_000
)

// EncodeNode writes the value of a process's node.
func EncodeNode(d NodeDocument) []byte {
	b := append(strconv.AppendInt([]byte("items: "), int64(d.Items), 10), '\n')
	if d.MaxItems > 0 {
		b = append(strconv.AppendInt(append(b, "maxItems: "...), int64(d.MaxItems), 10), '\n')
	}
	return appendText(b, "address", d.Address, MaxIP)
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
	if d.MaxItems, err = count(document, "maxItems"); err != nil {
		return d, err
	}
	if d.Address, err = yamldoc.Text(document["address"]); err == nil && len(d.Address) > MaxIP {
		err = fmt.Errorf("%d bytes, at most %d are allowed", len(d.Address), MaxIP)
	}
	if err != nil {
		return d, fmt.Errorf("address: %w", err)
	}
	return d, nil
}

// count reads a number of items; 0 if it is missing.
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
