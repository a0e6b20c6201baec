package trace

import (
	"bytes"
	"compress/flate"
	"encoding/gob"
	"errors"
	"fmt"
)

// packer makes chunks that wait for long about ten times smaller.
type packer struct {
	flate *flate.Writer // nil before the first one: it needs 1 MiB
	buf   bytes.Buffer
}

// pack returns a batch in few bytes; nil if it cannot be packed.
func (p *packer) pack(b Batch) []byte {
	p.buf.Reset()
	if p.flate == nil {
		p.flate, _ = flate.NewWriter(nil, flate.BestSpeed) // the level is a right one
	}
	p.flate.Reset(&p.buf)
	if err := errors.Join(gob.NewEncoder(p.flate).Encode(b), p.flate.Close()); err != nil {
		return nil
	}
	return bytes.Clone(p.buf.Bytes())
}

// unpack returns what pack was given.
func unpack(packed []byte) (b Batch, err error) {
	if err := gob.NewDecoder(flate.NewReader(bytes.NewReader(packed))).Decode(&b); err != nil {
		return Batch{}, fmt.Errorf("trace: unpack: %w", err)
	}
	return b, nil
}
