package jobtree

import (
	"errors"
	"fmt"
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
	Instance string // the id of an instance
	Address  string // of its host
	Label    string // that it has
	// Strict is whether the item has no owner while there is no such instance.
	Strict bool
	// By is who has pinned it.
	By string
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

// EncodePin writes the value of a pin's node. The names have to be short: see MaxPinName.
func EncodePin(d PinDocument) []byte {
	var b []byte
	b = appendText(b, "instance", d.Instance, MaxPinName)
	b = appendText(b, "address", d.Address, MaxPinName)
	b = appendText(b, "label", d.Label, MaxPinName)
	if d.Strict {
		b = append(b, "strict: true\n"...)
	}
	return appendText(b, "by", d.By, maxWho)
}

// MaxPinName bounds the names of a pin, in bytes.
const MaxPinName = 255

func decodePin(n coord.Node) *Pin {
	p := &Pin{Node: n}
	if p.PinDocument, p.Err = readPin(n.Value); p.Err != nil {
		p.PinDocument, p.Err = PinDocument{}, fmt.Errorf("pin: %w", p.Err)
	}
	return p
}

func readPin(value []byte) (d PinDocument, err error) {
	const most = 4 << 10
	var strict string
	if _, err := readTexts(value, most, map[string]*string{"instance": &d.Instance, "address": &d.Address, "label": &d.Label, "strict": &strict, "by": &d.By}); err != nil {
		return d, err
	}
	named := 0
	for _, name := range []string{d.Instance, d.Address, d.Label} {
		if name != "" {
			named++
		}
	}
	if named != 1 {
		return d, errors.New("one of instance, address and label is allowed, and needed")
	}
	if d.Strict, err = parseSwitch(strict); err != nil {
		return d, fmt.Errorf("strict: %w", err)
	}
	return d, nil
}
