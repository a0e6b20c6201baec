package jobtree

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// idDelimiter stands between the address and the process in an instance id.
const idDelimiter = "@-@"

// InstanceID puts an instance id together: {ip}@-@{pid}-{random}. JVM members leave
// the random part out.
func InstanceID(ip string, pid int, random string) string {
	return ip + idDelimiter + strconv.Itoa(pid) + "-" + random
}

// InstanceIP returns the address in an instance id, or "" if there is none.
func InstanceIP(id string) string {
	ip, _, found := strings.Cut(id, idDelimiter)
	if !found {
		return ""
	}
	return ip
}

// Instance is one live process of a job.
type Instance struct {
	coord.Node
	// ID is the name of the node, whatever the document says.
	ID string
	// IP is the address in the document; without one, that in the id.
	IP     string
	Labels []string
	// Err says why the document could not be read. ID and IP are good nevertheless.
	Err error
}

// MaxIP bounds the address of an instance in bytes: it is in its id, which is the last
// part of a path.
const MaxIP = 255

// maxLabels bounds what an instance may announce. A scheduler sets fewer itself.
const maxLabels = 1_000

// weightLabel announces the weight of an instance. It is a label because the
// document has no room for a key of its own.
const weightLabel = "weight="

// WeightLabel is the label that announces a weight.
func WeightLabel(weight int) string { return weightLabel + strconv.Itoa(weight) }

// Weight returns the weight that the instance announces, or 0.
func (in Instance) Weight() int {
	for _, label := range in.Labels {
		if text, ok := strings.CutPrefix(label, weightLabel); ok {
			if weight, err := strconv.Atoi(text); err == nil {
				return weight
			}
		}
	}
	return 0
}

// EncodeInstance writes the document of a live instance: YAML with the three keys
// that ElasticJob 3.0.x knows and no other, because its reader refuses a document
// that has one. Labels are one string there, divided by commas, so they have none
// themselves.
func EncodeInstance(id, ip string, labels []string) ([]byte, error) {
	document, err := yaml.Marshal(struct {
		ID     string `yaml:"jobInstanceId"`
		Labels string `yaml:"labels,omitempty"`
		IP     string `yaml:"serverIp"`
	}{id, strings.Join(labels, ","), ip})
	if err != nil {
		return nil, fmt.Errorf("document of instance %s: %w", id, err)
	}
	return document, nil
}

func decodeInstance(id string, n coord.Node) Instance {
	in := Instance{Node: n, ID: id, IP: InstanceIP(id)}
	ip, labels, ok := plainInstance(n.Value)
	if !ok {
		ip, labels, in.Err = yamlInstance(n.Value)
	}
	if ip != "" {
		in.IP = ip
	}
	in.Labels = labels
	return in
}

// plainInstance reads a document of the kind that nearly all are, lines of plain
// scalars, much faster than the YAML reader does. A program reads the tree at every
// change of it, and a job may have a thousand instances.
func plainInstance(value []byte) (ip string, labels []string, ok bool) {
	for line := range strings.Lines(string(value)) {
		key, text, found := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		if !found || !plainScalar(text) {
			return "", nil, false
		}
		switch key {
		case "jobInstanceId":
		case "serverIp":
			if ip = text; len(ip) > MaxIP {
				return "", nil, false
			}
		case "labels":
			if labels = splitLabels(text); len(labels) > maxLabels {
				return "", nil, false
			}
		default:
			return "", nil, false
		}
	}
	return ip, labels, true
}

// plainScalar reports whether text certainly means itself in YAML.
func plainScalar(text string) bool {
	if text == "" || strings.EqualFold(text, "null") {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case strings.IndexByte(".,@_=-:", c) >= 0 && i > 0:
		default:
			return false
		}
	}
	return text[len(text)-1] != ':'
}

func yamlInstance(value []byte) (ip string, labels []string, err error) {
	if len(value) == 0 {
		return "", nil, nil
	}
	if ip, labels, err = readInstance(value); err != nil {
		return "", nil, fmt.Errorf("document of an instance: %w", err)
	}
	return ip, labels, nil
}

func readInstance(value []byte) (ip string, labels []string, err error) {
	document, err := yamldoc.Parse(value)
	if errors.Is(err, yamldoc.ErrEmpty) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	if ip, err = yamldoc.Text(document["serverIp"]); err != nil {
		return "", nil, fmt.Errorf("serverIp: %w", err)
	}
	if len(ip) > MaxIP {
		return "", nil, fmt.Errorf("serverIp: %d bytes, at most %d are allowed", len(ip), MaxIP)
	}
	labels = labelsOf(document["labels"])
	if len(labels) > maxLabels {
		return "", nil, fmt.Errorf("labels: %d, at most %d are allowed", len(labels), maxLabels)
	}
	return ip, labels, nil
}

// labelsOf reads labels as one text or as a list; anything else has none.
func labelsOf(n *yaml.Node) (labels []string) {
	if n == nil {
		return nil
	}
	texts := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		texts = n.Content
	}
	for _, text := range texts {
		if text = yamldoc.Resolve(text); text.Kind == yaml.ScalarNode && !yamldoc.IsNull(text) {
			labels = append(labels, splitLabels(text.Value)...)
		}
	}
	return labels
}

func splitLabels(text string) []string {
	var labels []string
	for label := range strings.SplitSeq(text, ",") {
		if label = strings.Trim(label, " "); label != "" {
			labels = append(labels, label)
		}
	}
	return labels
}
