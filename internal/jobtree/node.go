package jobtree

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// Nodes is the parent of the nodes of processes, for all jobs of the namespace. No job has that
// name, because names of jobs have no tilde.
const Nodes = "~elasticjob/nodes"

// Node is the ephemeral node in which a process says how much it has; see [EncodeNode]. Its id
// has the form of an instance's.
func Node(id string) string { return Nodes + "/" + id }

// NodeDocument is what a process tells all leaders and operators about itself.
type NodeDocument struct {
	Items   int    `doc:"items,always"` // how many items of all its jobs it has
	Address string `doc:"address,255"`  // of its host
	// Offers are the types and implementations whose jobs a runner serves, ascending, and Labels
	// are its labels. MoreOffers and MoreLabels are how many more there are, which had no room.
	Offers        []string           `doc:"offers"`
	MoreOffers    int                `doc:"moreOffers"`
	Labels        []string           `doc:"labels"`
	MoreLabels    int                `doc:"moreLabels"`
	Described     []jobconf.Property `doc:"described"` // properties of the types that describe theirs
	MoreDescribed int                `doc:"moreDescribed"`
}

const (
	// maxCount bounds numbers of items, jobs, offers and labels.
	maxCount = 1_000_000_000
	// maxNodeList bounds a list in the document of a process in bytes.
	maxNodeList = 4 << 10
	// maxNodeDescribed bounds the properties in it.
	maxNodeDescribed = 6 << 10
)

// nodes leaves room for keys of later versions.
var nodes = newCodec("document of a process", 16<<10, func(d *NodeDocument) error {
	return errors.Join(checkCount("items", d.Items), checkCount("moreOffers", d.MoreOffers), checkCount("moreLabels", d.MoreLabels), checkCount("moreDescribed", d.MoreDescribed))
})

func checkCount(key string, n int) error {
	if n < 0 || n > maxCount {
		return fmt.Errorf("%s: %d: an integer from 0 to %d is allowed", key, n, maxCount)
	}
	return nil
}

// EncodeNode writes the value of a process's node.
func EncodeNode(d NodeDocument) []byte {
	d.Offers, d.MoreOffers = fit(d.Offers, d.MoreOffers, maxNodeList, sizeOf)
	d.Labels, d.MoreLabels = fit(d.Labels, d.MoreLabels, maxNodeList, sizeOf)
	d.Described, d.MoreDescribed = fit(d.Described, d.MoreDescribed, maxNodeDescribed, sizeOfProperty)
	return nodes.encode(d)
}

var property = newCodec[jobconf.Property]("property", maxNodeDescribed, nil)

func sizeOfProperty(p jobconf.Property) int { return len(property.encode(p)) + 7*len("- ") } // in 7 lines
func sizeOf(text string) int                { return len("- \n") + len(strconv.Quote(text)) }

// fit returns the elements of a list for which there is room, and how many more there are.
func fit[E any](list []E, more, room int, size func(E) int) ([]E, int) {
	for i, e := range list {
		if room -= size(e); room < 0 {
			return list[:i], more + len(list) - i
		}
	}
	return list, more
}

// DecodeNode reads the value of a process's node.
func DecodeNode(value []byte) (NodeDocument, error) {
	if len(value) == 0 {
		return NodeDocument{}, fmt.Errorf("document of a process: %w", errNone)
	}
	return nodes.decode(value)
}
