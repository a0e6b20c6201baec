package zk

import (
	"encoding/binary"
	"net"
)

// unstamped is a network connection on which the replies of a server carry no zxid.
//
// Version 1.0.4 of the client library keeps the zxid of the latest reply, and reads it
// in another goroutine, without a lock, when it has opened a link and finds watches to
// set again (https://github.com/go-zookeeper/zk/pull/35). Those of a new connection can
// be among them if that goroutine is late. A zxid of 0 is not kept, and a connection
// that ends with its link has no use for one: the servers set these few watches again
// and report all of them at once, and what watches reads again.
type unstamped struct {
	net.Conn

	// What follows is used by Read alone, which the library calls from one goroutine
	// at a time.
	shaken bool               // the first packet, which is no reply, has passed
	at     int64              // in the packet
	length [lengthPrefix]byte // of the packet, without these
}

// zxidAt is where in a packet the zxid of a reply is: after the length and the xid.
const zxidAt, zxidEnd = 8, 16

func (u *unstamped) Read(b []byte) (int, error) {
	n, err := u.Conn.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		rest = rest[u.pass(rest):]
	}
	return n, err
}

// pass goes over bytes of one packet, at least one, and returns how many.
func (u *unstamped) pass(b []byte) int {
	switch {
	case u.at < lengthPrefix:
		u.length[u.at] = b[0]
		return u.advance(1)
	case u.at < zxidAt:
		return u.advance(1)
	case u.at < zxidEnd:
		if u.shaken {
			b[0] = 0
		}
		return u.advance(1)
	default:
		return u.advance(int(min(int64(len(b)), u.end()-u.at)))
	}
}

// end is where the packet ends, once its length is known.
func (u *unstamped) end() int64 {
	return lengthPrefix + int64(binary.BigEndian.Uint32(u.length[:]))
}

func (u *unstamped) advance(n int) int {
	u.at += int64(n)
	if u.at >= lengthPrefix && u.at == u.end() {
		u.at, u.shaken = 0, true
	}
	return n
}
