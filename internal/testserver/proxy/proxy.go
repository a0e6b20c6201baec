// Package proxy is a TCP link that a test can break. A [Proxy] stands in front of one
// server, in the process of the test, and forwards connections byte for byte until a
// method tells it otherwise.
//
// Bytes that were dropped do not come back, so what follows them in their stream makes no
// sense. A connection that has lost bytes is closed when its fault ends. Bytes that Pause
// held back arrive late, and all of them.
package proxy

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// Proxy forwards to one address. All methods may be called from any goroutine. Faults
// apply to open connections and to new ones, and last until Heal.
type Proxy struct {
	listener net.Listener
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
	running  sync.WaitGroup

	mu      sync.Mutex
	target  string
	refuse  bool
	modes   [2]mode
	delay   time.Duration
	changed chan struct{} // closed and replaced whenever a fault begins or ends
	links   map[*link]struct{}
	bytes   [2]int64
}

// direction is that of traffic, seen from the client.
type direction int

const (
	requests direction = iota
	answers
)

type mode int

const (
	pass mode = iota
	hold
	drop
)

// New listens on a free port of the loopback interface and forwards to target, a
// "host:port". The caller closes it.
func New(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("proxy for %s: %w", target, err)
	}
	p := &Proxy{
		target:   target,
		listener: listener,
		changed:  make(chan struct{}),
		links:    make(map[*link]struct{}),
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.running.Go(p.accept)
	return p, nil
}

// Redirect forwards new connections to another address. Open ones stay as they are.
func (p *Proxy) Redirect(target string) { p.fault(func() { p.target = target }) }

// Addr returns the "host:port" that clients dial.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Cut closes all connections and refuses new ones.
func (p *Proxy) Cut() { p.fault(func() { p.refuse = true }) }

// BlackHole keeps connections open, accepts new ones, and drops everything in both
// directions. Neither side learns that the other one has closed a connection.
func (p *Proxy) BlackHole() { p.fault(func() { p.modes = [2]mode{drop, drop} }) }

// DropAnswers forwards requests, and drops what the server sends.
func (p *Proxy) DropAnswers() { p.fault(func() { p.modes = [2]mode{requests: pass, answers: drop} }) }

// DropRequests drops what the client sends, and forwards what the server sends.
func (p *Proxy) DropRequests() { p.fault(func() { p.modes = [2]mode{requests: drop, answers: pass} }) }

// Strand drops everything on the connections that are open now, as a router does that has
// forgotten them. They stay open, and new ones are forwarded.
func (p *Proxy) Strand() {
	p.fault(func() {
		for l := range p.links {
			l.stranded = true
		}
	})
}

// Delay makes all answers late by d. They keep their order, and any number may be on the way.
func (p *Proxy) Delay(d time.Duration) { p.fault(func() { p.delay = d }) }

// Pause holds all bytes back, in both directions, until Resume or Heal.
func (p *Proxy) Pause() { p.fault(func() { p.modes = [2]mode{hold, hold} }) }

// Resume delivers what Pause held back.
func (p *Proxy) Resume() { p.fault(func() { p.modes = [2]mode{} }) }

// Heal ends all faults.
func (p *Proxy) Heal() {
	p.fault(func() {
		p.refuse, p.modes, p.delay = false, [2]mode{}, 0
		for l := range p.links {
			l.stranded = false
		}
	})
}

// Traffic returns how many bytes were delivered to the server and to clients.
func (p *Proxy) Traffic() (sent, answered int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes[requests], p.bytes[answers]
}

// Connections returns how many connections are open.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Close closes the listener and all connections, and waits for their goroutines.
func (p *Proxy) Close() {
	p.stop()
	_ = p.listener.Close()
	p.mu.Lock()
	for l := range p.links {
		l.close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *Proxy) fault(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	close(p.changed)
	p.changed = make(chan struct{})
	for l := range p.links {
		if p.refuse || l.garbledLocked() {
			l.close()
		}
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			if p.ctx.Err() != nil {
				return
			}
			continue // a client has closed its connection before it was accepted
		}
		p.running.Go(func() { p.serve(client.(*net.TCPConn)) })
	}
}

func (p *Proxy) serve(client *net.TCPConn) {
	l := &link{proxy: p, ends: [2]*net.TCPConn{client}, done: make(chan struct{})}
	p.mu.Lock()
	refuse, target := p.refuse, p.target
	p.mu.Unlock()
	if refuse {
		l.close()
		return
	}
	server, err := (&net.Dialer{}).DialContext(p.ctx, "tcp", target)
	if err != nil {
		l.close()
		return
	}
	l.ends[1] = server.(*net.TCPConn)

	// Cut or Close may have been called while the server was dialled.
	p.mu.Lock()
	if p.refuse || p.ctx.Err() != nil {
		p.mu.Unlock()
		l.close()
		return
	}
	p.links[l] = struct{}{}
	p.mu.Unlock()

	var pumps sync.WaitGroup
	for _, d := range []direction{requests, answers} {
		pieces := make(chan piece, 64)
		pumps.Go(func() { l.read(d, pieces) })
		pumps.Go(func() { l.write(d, pieces) })
	}
	pumps.Wait()
	l.close()
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}
