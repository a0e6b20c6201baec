package jobtree

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// FaultRecord is a fault as it stands in the tree for operators.
type FaultRecord struct {
	Kind  string    `yaml:"kind"`
	Cause string    `yaml:"cause"`
	Since time.Time `yaml:"since"`
}

const (
	maxFaults     = 8       // in one node
	maxCause      = 400     // bytes of one cause
	maxFaultsSize = 4 << 10 // bytes of one node
)

// EncodeFaults writes the value of a faults node: at most 8 faults, with at most 400 bytes
// of each cause. It stays below 4 KiB: if escapes make the causes too long, it writes less
// of each.
func EncodeFaults(faults []FaultRecord) ([]byte, error) {
	for most := maxCause; ; most /= 2 {
		document, err := encodeFaults(faults[:min(len(faults), maxFaults)], most)
		if err != nil || len(document) <= maxFaultsSize || most < 10 {
			return document, err
		}
	}
}

func encodeFaults(faults []FaultRecord, maxCause int) ([]byte, error) {
	list := make([]FaultRecord, 0, len(faults))
	for _, f := range faults {
		f.Cause = brief.Cut(f.Cause, maxCause)
		f.Since = f.Since.UTC().Truncate(time.Millisecond)
		list = append(list, f)
	}
	document, err := yaml.Marshal(struct {
		Faults []FaultRecord `yaml:"faults"`
	}{list})
	if err != nil {
		return nil, fmt.Errorf("document of faults: %w", err)
	}
	return document, nil
}

// DecodeFaults reads the value of a faults node.
func DecodeFaults(value []byte) ([]FaultRecord, error) {
	var document struct {
		Faults []FaultRecord `yaml:"faults"`
	}
	if err := yaml.Unmarshal(value, &document); err != nil {
		return nil, fmt.Errorf("document of faults: %w", brief.Error(err))
	}
	return document.Faults, nil
}
