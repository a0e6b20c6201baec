package dump

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"sync"
	"time"
)

// Listener divides what comes to l: the service answers connections that speak ElasticJob's line,
// and Accept returns those that speak HTTP, for an [http.Server] of the program that has
// [Service.Handler] among its pages. Close closes l and all connections of the first kind, and
// waits for what was started.
func (s *Service) Listener(l net.Listener) net.Listener {
	d := &divided{Listener: l, service: s, accepted: make(chan accepted), open: map[net.Conn]bool{}}
	d.closing, d.close = context.WithCancelCause(context.Background())
	d.working.Go(d.run)
	return d
}

// divided is a listener whose connections are looked at first.
type divided struct {
	net.Listener
	service  *Service
	accepted chan accepted
	closing  context.Context
	close    context.CancelCauseFunc
	working  sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]bool // that were accepted and not closed; true while they are ours
}

// accepted is what Accept returns.
type accepted struct {
	conn net.Conn
	err  error
}

// Accept returns the next connection that speaks HTTP.
func (d *divided) Accept() (net.Conn, error) {
	select {
	case a := <-d.accepted:
		return a.conn, a.err
	case <-d.closing.Done():
		return nil, context.Cause(d.closing)
	}
}

// Close ends everything but the connections that Accept has returned.
func (d *divided) Close() error {
	d.close(net.ErrClosed)
	err := d.Listener.Close()
	d.mu.Lock()
	for c, isOurs := range d.open {
		if isOurs {
			_ = c.Close() // what reads or writes it returns
		}
	}
	d.mu.Unlock()
	d.working.Wait()
	return err
}

// run accepts connections. Its errors are those of Accept: whoever calls that pauses then, or
// gives up and closes the listener.
func (d *divided) run() {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			if !d.hand(accepted{err: err}) {
				return
			}
			continue
		}
		if !d.enter(c) {
			_ = c.Close() // there are too many, or the service ends
			continue
		}
		d.working.Go(func() { d.receive(c) })
	}
}

// hand gives Accept something to return. It reports false if the listener closes.
func (d *divided) hand(a accepted) bool {
	select {
	case d.accepted <- a:
		return true
	case <-d.closing.Done():
		return false
	}
}

// enter notes a connection. It reports false if it is one too many.
func (d *divided) enter(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) >= maxConnections || d.closing.Err() != nil {
		return false
	}
	d.open[c] = true
	return true
}

func (d *divided) leave(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, c)
}

// receive looks at how a connection begins, and answers it or hands it on.
func (d *divided) receive(c net.Conn) {
	isHandedOn := false
	defer func() {
		if !isHandedOn {
			_ = c.Close() // nobody waits for its error
			d.leave(c)
		}
	}()
	if c.SetReadDeadline(time.Now().Add(d.service.times.ask)) != nil {
		return // it is closed
	}
	r := bufio.NewReaderSize(c, maxLine)
	switch language(r) {
	case speaksHTTP:
		isHandedOn = c.SetReadDeadline(time.Time{}) == nil && d.handOn(c, r)
	case speaksLine:
		d.service.speak(d.closing, c, r)
	}
}

// handOn hands a connection on, with what was read of it.
func (d *divided) handOn(c net.Conn, r *bufio.Reader) bool {
	d.mu.Lock()
	d.open[c] = false
	d.mu.Unlock()
	return d.hand(accepted{conn: &handed{Conn: c, r: r, left: sync.OnceFunc(func() { d.leave(c) })}})
}

// handed is a connection of which the beginning was read.
type handed struct {
	net.Conn
	r    *bufio.Reader
	left func()
}

func (h *handed) Read(p []byte) (int, error) { return h.r.Read(p) }

func (h *handed) Close() error {
	h.left()
	return h.Conn.Close()
}

// spoken is what a client speaks.
type spoken int

const (
	speaksNothing spoken = iota // it has gone, or its time is over
	speaksLine
	speaksHTTP
)

// language finds out what a client speaks, and leaves what it has read in r. HTTP begins with a
// method and a space; a line has an @ before any space, or ends.
func language(r *bufio.Reader) spoken {
	for n := 1; ; n = r.Buffered() + 1 {
		_, err := r.Peek(n)
		begin, _ := r.Peek(r.Buffered()) // it is all there
		switch i := bytes.IndexAny(begin, "@\r\n "); {
		case i >= 0 && begin[i] == ' ':
			return speaksHTTP
		case i >= 0:
			return speaksLine
		case err != nil && len(begin) == 0:
			return speaksNothing
		case err != nil: // it has sent all, or too much, or its time is over: it is told
			return speaksLine
		}
	}
}
