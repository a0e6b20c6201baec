package zk

import (
	"encoding/binary"
	"net"
)

// zxidReader is a network connection that reads the zxid of every reply, which is the newest change
// that the server knows. With erase the client library gets 0 in its place.
//
// Erasing avoids a data race in version 1.0.4 of the client library
// (https://github.com/go-zookeeper/zk/pull/35). It keeps the zxid of the latest reply, and after it
// has opened a link another goroutine reads that without a lock, to set watches again. It does not
// keep a zxid of 0. A connection with one link needs none: if the library does set watches of the
// new link again, the server reports a change at once, and their nodes are read again.
type zxidReader struct {
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

func (s *zxidReader) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		rest = rest[s.pass(rest):]
	}
	return n, err
}

// pass handles at least one byte, all of the same packet, and returns how many.
func (s *zxidReader) pass(b []byte) int {
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
func (s *zxidReader) end() int64 {
	return lengthPrefix + int64(binary.BigEndian.Uint32(s.length[:]))
}

func (s *zxidReader) advance(n int) int {
	s.at += int64(n)
	if s.at >= lengthPrefix && s.at == s.end() {
		s.at, s.pastHandshake, s.zxid = 0, true, 0
	}
	return n
}
