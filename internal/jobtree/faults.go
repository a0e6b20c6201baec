package jobtree

import (
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// FaultRecord is a fault as it stands in the tree for operators.
type FaultRecord struct {
	Kind  string    `doc:"kind,64"`
	Cause string    `doc:"cause,400"`
	Since time.Time `doc:"since"`
}

type faultsDocument struct {
	Faults []FaultRecord `doc:"faults"`
}

var faultsCodec = newCodec[faultsDocument]("document of faults", 16<<10, nil)

// Bounds of a faults node that is written.
const (
	maxFaults     = 8
	maxCause      = 400     // bytes of one cause
	maxFaultsSize = 4 << 10 // bytes
)

// EncodeFaults writes the value of a faults node: at most 8 faults, with at most 400 bytes
// of each cause. It stays below 4 KiB: if escapes make the causes too long, it writes less
// of each.
func EncodeFaults(faults []FaultRecord) []byte {
	for most := maxCause; ; most /= 2 {
		var d faultsDocument
		for _, f := range faults[:min(len(faults), maxFaults)] {
			f.Cause = brief.Cut(f.Cause, most)
			d.Faults = append(d.Faults, f)
		}
		if document := faultsCodec.encode(d); len(document) <= maxFaultsSize || most < 10 {
			return document
		}
	}
}

// DecodeFaults reads the value of a faults node.
func DecodeFaults(value []byte) ([]FaultRecord, error) {
	d, err := faultsCodec.decode(value)
	return d.Faults, err
}
