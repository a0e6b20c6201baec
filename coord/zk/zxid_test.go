package zk_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord/zk"
)

// pieces is a connection whose bytes come in pieces; the sizes are used in turn.
type pieces struct {
	net.Conn
	from  io.Reader
	sizes []int
}

func (p *pieces) Read(b []byte) (int, error) {
	n := min(len(b), p.sizes[0])
	p.sizes = append(p.sizes[1:], p.sizes[0])
	return p.from.Read(b[:n])
}

// All packets but the first are replies. Of a reply only the zxid changes, and saw gets it;
// whatever the pieces are in which the packets come.
func TestUnstamped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		packets := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 64), 1, 8).Draw(t, "packets")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 64), 1, 16).Draw(t, "sizes")
		var sent, want []byte
		var zxids, saw []int64
		for i, packet := range packets {
			sent = binary.BigEndian.AppendUint32(sent, uint32(len(packet)))
			sent = append(sent, packet...)
			if i > 0 {
				if len(packet) >= 12 {
					zxids = append(zxids, int64(binary.BigEndian.Uint64(packet[4:])))
				}
				packet = bytes.Clone(packet)
				for at := 4; at < min(12, len(packet)); at++ {
					packet[at] = 0
				}
			}
			want = binary.BigEndian.AppendUint32(want, uint32(len(packet)))
			want = append(want, packet...)
		}
		got, err := io.ReadAll(zk.EraseZxids(&pieces{from: bytes.NewReader(sent), sizes: sizes}, func(zxid int64) { saw = append(saw, zxid) }))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(saw, zxids) {
			t.Fatalf("saw %x, want %x", saw, zxids)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("read\n%x, want\n%x, of\n%x", got, want, sent)
		}
	})
}
