package zk

import (
	"errors"

	zookeeper "github.com/go-zookeeper/zk"
)

// maxInFlight bounds the requests of one connection that wait for an answer.
const maxInFlight = 1024

// start runs a request on a goroutine, as soon as there are a link and a free slot. The library's
// calls take no context, so a call goes on when its caller has left; close makes it return.
func (c *conn) start(l limit, request func(*zookeeper.Conn)) error {
	if err := l.cause(); err != nil {
		return &unsentError{err}
	}
	c.mu.Lock()
	up, isUp := c.up, c.isUp
	c.mu.Unlock()
	if !isUp {
		select {
		case <-up:
		case <-l.Done():
			return &unsentError{l.cause()}
		case <-l.late:
			return &unsentError{l.cause()}
		case <-c.ctx.Done():
			return &unsentError{errConnEnded}
		}
	}
	select {
	case c.slots <- struct{}{}:
	case <-l.Done():
		return &unsentError{l.cause()}
	case <-l.late:
		return &unsentError{l.cause()}
	case <-c.ctx.Done():
		return &unsentError{errConnEnded}
	}
	return c.runInSlot(request)
}

// tryStart runs a request on a goroutine if there is a free slot, and reports whether it did.
func (c *conn) tryStart(request func(*zookeeper.Conn)) bool {
	select {
	case c.slots <- struct{}{}:
		return c.runInSlot(request) == nil
	default:
		return false
	}
}

func (c *conn) runInSlot(request func(*zookeeper.Conn)) error {
	err := c.run(func(client *zookeeper.Conn) {
		defer func() { <-c.slots }()
		request(client)
	})
	if err != nil {
		<-c.slots
	}
	return err
}

// run runs a request on a goroutine, without waiting for a link or a slot.
func (c *conn) run(request func(*zookeeper.Conn)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return &unsentError{errConnEnded}
	}
	c.requests.Go(func() { request(c.client) })
	return nil
}

// call makes one request, and waits for its answer as long as the limit allows.
func call[T any](l limit, c *conn, request func(*zookeeper.Conn) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	err := c.start(l, func(client *zookeeper.Conn) {
		value, err := request(client)
		answers <- answer{value, err}
	})
	var none T
	if err != nil {
		return none, err
	}
	select {
	case a := <-answers:
		if errors.Is(a.err, zookeeper.ErrSessionExpired) {
			c.expire()
		}
		return a.value, a.err
	case <-l.Done():
		return none, &unansweredError{l.cause()}
	case <-l.late:
		return none, &unansweredError{l.cause()}
	}
}
