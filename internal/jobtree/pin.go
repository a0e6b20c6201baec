package jobtree

import (
	"errors"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Pin is the node that says which instances an item belongs to. An operator writes and removes
// it.
type Pin struct {
	coord.Node
	PinDocument
	// Err says why the document could not be read; then it pins nothing.
	Err error
}

// PinDocument is the value of a pin's node. One of the first three is set.
type PinDocument struct {
	Instance string `doc:"instance,255"` // the id of an instance
	Address  string `doc:"address,255"`  // of its host
	Label    string `doc:"label,255"`    // that it has
	// Strict is whether the item has no owner while there is no such instance.
	Strict bool `doc:"strict"`
	// By is who has pinned it.
	By string `doc:"by,255"`
}

// Matches reports whether the item may be an instance's.
func (d *PinDocument) Matches(in Instance) bool {
	switch {
	case d.Instance != "":
		return in.ID == d.Instance
	case d.Address != "":
		return in.IP == d.Address
	}
	return slices.Contains(in.Labels, d.Label)
}

// MaxPinName bounds the names of a pin, in bytes.
const MaxPinName = 255

var pinCodec = newCodec("pin", 4<<10, func(d *PinDocument) error {
	named := 0
	for _, name := range []string{d.Instance, d.Address, d.Label} {
		if name != "" {
			named++
		}
	}
	if named != 1 {
		return errors.New("one of instance, address and label is allowed, and needed")
	}
	return nil
})

// EncodePin writes the value of a pin's node. The names have to be short: see MaxPinName.
func EncodePin(d PinDocument) []byte { return pinCodec.encode(d) }

func decodePin(n coord.Node) *Pin {
	p := &Pin{Node: n}
	p.PinDocument, p.Err = pinCodec.decode(n.Value)
	return p
}
