package zk

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"time"
)

// handshake is what a server said when the session was opened or taken up again. The
// client library keeps it to itself, so it is read on the way.
type handshake struct {
	sent     time.Time // just before it was asked
	session  int64     // 0: it has expired
	timeout  time.Duration
	password []byte
}

// link is a network connection that listens to the handshake at its start, and bounds
// it: the library would wait for ten times its read time-out.
type link struct {
	net.Conn
	address string // of the server
	opened  time.Time

	mu     sync.Mutex
	sent   time.Time
	answer []byte // what has come of the answer; nil once it is complete
	shaken *handshake
	err    error // why the handshake failed
}

// newLink wraps a connection whose handshake has to be through by the deadline.
func newLink(conn net.Conn, deadline time.Time) (*link, error) {
	l := &link{Conn: conn, opened: time.Now(), answer: make([]byte, 0, 64)}
	return l, conn.SetDeadline(deadline)
}

// maxHandshake is more than any answer to a handshake has.
const maxHandshake = 1024

var errNotZooKeeper = errors.New("this is no ZooKeeper server, or it expects TLS")

// handshake returns what was said, or why nothing was.
func (l *link) handshake() (*handshake, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shaken, l.err
}

// Write ends the link when it fails, and does not say so: the library learns of the end
// when it reads.
//
// Told that a request could not be written, it answers that request, and all that are
// open once more when the link has ended. Nobody takes the second answer if the request
// named the user again, or if the library is being closed, and then it waits for ever
// (https://github.com/go-zookeeper/zk/pull/163).
func (l *link) Write(b []byte) (int, error) {
	l.mu.Lock()
	if l.sent.IsZero() {
		l.sent = time.Now()
	}
	l.mu.Unlock()
	if _, err := l.Conn.Write(b); err != nil {
		l.mu.Lock()
		l.err = err
		l.mu.Unlock()
		_ = l.Conn.Close() // err says more
	}
	return len(b), nil
}

func (l *link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shaken != nil {
		return n, err
	}
	l.answer = append(l.answer, b[:n]...)
	if len(l.answer) >= 4 && binary.BigEndian.Uint32(l.answer) > maxHandshake {
		// Before the library makes room for what it takes for a length.
		l.err = errNotZooKeeper
		return 0, l.err
	}
	l.shaken = parseHandshake(l.answer, l.sent)
	if l.shaken != nil {
		l.answer = nil
	} else if l.err == nil {
		l.err = err
	}
	return n, err
}

// parseHandshake reads a connect response: the length of what follows, the protocol's
// version, the time-out in milliseconds, the session's id, and its password with its
// length. It returns nil while a part is missing.
func parseHandshake(b []byte, sent time.Time) *handshake {
	const fixed = 4 + 4 + 4 + 8 + 4
	if len(b) < fixed || len(b) < 4+int(binary.BigEndian.Uint32(b)) {
		return nil
	}
	h := &handshake{
		sent:    sent,
		timeout: time.Duration(binary.BigEndian.Uint32(b[8:])) * time.Millisecond,
		session: int64(binary.BigEndian.Uint64(b[12:])),
	}
	if n := int(int32(binary.BigEndian.Uint32(b[20:]))); n > 0 && len(b) >= fixed+n {
		h.password = b[fixed : fixed+n : fixed+n]
	}
	return h
}

// Until the handshake is over its own deadline stands, whatever the library wants.

func (l *link) SetDeadline(t time.Time) error {
	if l.isShaken() {
		return l.Conn.SetDeadline(t)
	}
	return nil
}

func (l *link) SetReadDeadline(t time.Time) error {
	if l.isShaken() {
		return l.Conn.SetReadDeadline(t)
	}
	return nil
}

func (l *link) SetWriteDeadline(t time.Time) error {
	if l.isShaken() {
		return l.Conn.SetWriteDeadline(t)
	}
	return nil
}

func (l *link) isShaken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shaken != nil
}

// tlsFor returns the configuration for one of the hosts.
func tlsFor(config *tls.Config, address string) *tls.Config {
	config = config.Clone()
	if host, _, err := net.SplitHostPort(address); err == nil && config.ServerName == "" {
		config.ServerName = host
	}
	return config
}
