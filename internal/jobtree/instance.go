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

// IsJVMID reports whether an id has the form that JVM members give theirs: {ip}@-@{pid}.
func IsJVMID(id string) bool {
	_, pid, found := strings.Cut(id, idDelimiter)
	return found && pid != "" && strings.Trim(pid, "0123456789") == ""
}

// IsOurID reports whether an id has the form of [InstanceID].
func IsOurID(id string) bool {
	_, process, found := strings.Cut(id, idDelimiter)
	pid, _, isOurs := strings.Cut(process, "-")
	return found && isOurs && pid != "" && strings.Trim(pid, "0123456789") == ""
}

// Instance is one live process of a job.
type Instance struct {
	coord.Node
	// ID is the name of the node. The one in the document is ignored.
	ID string
	// IP is the address in the document, or else the one in the id.
	IP     string
	Labels []string
	// Err says why the document could not be read. ID and IP hold nevertheless.
	Err error
}

// MaxIP bounds the address of an instance in bytes, because it is part of a path.
const MaxIP = 255

// maxLabels bounds the labels that are read of an instance. Package job writes fewer.
const maxLabels = 1_000

// weightLabel begins the label that announces the weight of an instance. It is a label
// because ElasticJob does not allow another key in the document.
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

// EncodeInstance writes the document of a live instance. It is YAML with the three keys
// that ElasticJob 3.0.x knows, because its reader refuses a document with another key.
// Labels are one string, with commas between them, so no label may have a comma.
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

// plainInstance reads a document that consists of lines of plain scalars, as nearly all do.
// ok is false for any other. It is much faster than the YAML reader, and a job may have a
// thousand instances.
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

// plainScalar reports whether text surely means the same text in YAML, without quotes.
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

// labelsOf reads labels that are one text or a list. It ignores anything else.
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
