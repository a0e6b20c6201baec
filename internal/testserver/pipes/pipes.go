// Package pipes is a network in memory for tests of servers in bubbles of testing/synctest, in which
// time is virtual: a real connection would keep the bubble's time from passing.
//
// Not promised: addresses, and buffers. A write waits until somebody reads.
package pipes

import (
	"net"
	"sync"
)

// Listener accepts the connections of [Listener.Dial].
type Listener struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// New returns a listener, which its caller closes.
func New() *Listener { return &Listener{dialed: make(chan net.Conn), closed: make(chan struct{})} }

// Dial connects to the listener when it accepts. The caller closes the connection.
//
// Errors: net.ErrClosed.
func (l *Listener) Dial() (net.Conn, error) {
	mine, its := net.Pipe()
	select {
	case l.dialed <- its:
		return mine, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialed:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Connections stay.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }
