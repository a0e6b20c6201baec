package jobtree

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// FaultRecord is a fault as operators see it in the tree.
type FaultRecord struct {
	Kind  string    `yaml:"kind"`
	Cause string    `yaml:"cause"`
	Since time.Time `yaml:"since"`
}

const (
	// maxFaults bounds the faults of a node, maxCause the bytes of each cause, maxFaultsSize
	// those of the node.
	maxFaults     = 8
	maxCause      = 400
	maxFaultsSize = 4 << 10
)

// EncodeFaults writes the value of a faults node, in at most 4 KiB: at most 8 faults, with
// at most 400 bytes of each cause. Where escapes make the causes longer than they are, less
// of them is shown.
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
