package zk

import (
	"encoding/binary"
	"net"
)

// stamps is a network connection that looks at the zxid of every reply: the latest
// change that the server knows of. With erase, the client library does not see it.
//
// Version 1.0.4 of the client library keeps the zxid of the latest reply, and reads it
// in another goroutine, without a lock, when it has opened a link and finds watches to
// set again (https://github.com/go-zookeeper/zk/pull/35). Those of a new connection can
// be among them if that goroutine is late. A zxid of 0 is not kept, and a connection
// that ends with its link has no use for one: the servers set these few watches again
// and report all of them at once, and what watches reads again.
type stamps struct {
	net.Conn
	saw   func(zxid int64)
	erase bool

	// What follows is used by Read alone, which the library calls from one goroutine
	// at a time.
	shaken bool               // the first packet, which is no reply, has passed
	at     int64              // in the packet
	length [lengthPrefix]byte // of the packet, without these
	zxid   uint64             // of the packet, as far as it has come
}

// zxidAt is where in a packet the zxid of a reply is: after the length and the xid.
const zxidAt, zxidEnd = 8, 16

func (s *stamps) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		rest = rest[s.pass(rest):]
	}
	return n, err
}

// pass goes over bytes of one packet, at least one, and returns how many.
func (s *stamps) pass(b []byte) int {
	switch {
	case s.at < lengthPrefix:
		s.length[s.at] = b[0]
		return s.advance(1)
	case s.at < zxidAt:
		return s.advance(1)
	case s.at < zxidEnd:
		s.zxid = s.zxid<<8 | uint64(b[0])
		if s.shaken && s.erase {
			b[0] = 0
		}
		if s.shaken && s.at == zxidEnd-1 {
			s.saw(int64(s.zxid)) // not positive for what is no reply, such as a watch
		}
		return s.advance(1)
	default:
		return s.advance(int(min(int64(len(b)), s.end()-s.at)))
	}
}

// end is where the packet ends, once its length is known.
func (s *stamps) end() int64 {
	return lengthPrefix + int64(binary.BigEndian.Uint32(s.length[:]))
}

func (s *stamps) advance(n int) int {
	s.at += int64(n)
	if s.at >= lengthPrefix && s.at == s.end() {
		s.at, s.shaken, s.zxid = 0, true, 0
	}
	return n
}
