package zk

import (
	"encoding/binary"
	"net"
)

// stamps is a network connection that reads the zxid of every reply, which is the newest
// change that the server knows. With erase the client library gets 0 in its place.
//
// The reason is a data race in version 1.0.4 of the client library
// (https://github.com/go-zookeeper/zk/pull/35). It keeps the zxid of the latest reply. When
// it has opened a link and finds watches to set again, another goroutine reads that zxid
// without a lock; if it is late, these can be watches of the new connection. A zxid of 0 is
// not kept, so there is no race. A connection with one link needs none: for these few
// watches the server then reports a change at once, and their nodes are read again.
type stamps struct {
	net.Conn
	saw   func(zxid int64)
	erase bool

	// Only Read uses what follows; the library calls it from one goroutine at a time.
	pastHandshake bool               // the first packet has passed; it has no zxid
	at            int64              // position in the packet
	length        [lengthPrefix]byte // of the packet, without this prefix
	zxid          uint64             // of the packet, as far as it has come
}

// zxidAt and zxidEnd are where in a packet the zxid of a reply is: after the length and the
// xid.
const zxidAt, zxidEnd = 8, 16

func (s *stamps) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		rest = rest[s.pass(rest):]
	}
	return n, err
}

// pass handles at least one byte, all of the same packet, and returns how many.
func (s *stamps) pass(b []byte) int {
	switch {
	case s.at < lengthPrefix:
		s.length[s.at] = b[0]
		return s.advance(1)
	case s.at < zxidAt:
		return s.advance(1)
	case s.at < zxidEnd:
		s.zxid = s.zxid<<8 | uint64(b[0])
		if s.pastHandshake && s.erase {
			b[0] = 0
		}
		if s.pastHandshake && s.at == zxidEnd-1 {
			s.saw(int64(s.zxid)) // of a packet that is no reply, such as a watch event, it is not positive
		}
		return s.advance(1)
	default:
		return s.advance(int(min(int64(len(b)), s.end()-s.at)))
	}
}

// end is the position where the packet ends. Its length must be known.
func (s *stamps) end() int64 {
	return lengthPrefix + int64(binary.BigEndian.Uint32(s.length[:]))
}

func (s *stamps) advance(n int) int {
	s.at += int64(n)
	if s.at >= lengthPrefix && s.at == s.end() {
		s.at, s.pastHandshake, s.zxid = 0, true, 0
	}
	return n
}
