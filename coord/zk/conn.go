package zk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// conn is a client of the library with one session, which may have several network links one after
// the other. The library by itself would open a new session when its own has expired, and send in it
// what is still queued for the old one. A conn ends with its session, and opens no link any more.
type conn struct {
	config      *Config
	identity    *identity
	since       moment // what was known of the store when the conn was opened
	owner       connOwner
	oneLink     bool // the conn ends with its first link
	client      *zookeeper.Conn
	events      <-chan zookeeper.Event // closed when the library's goroutines have ended
	slots       chan struct{}
	ctx         context.Context // ends with the conn
	stop        context.CancelFunc
	incarnation atomic.Int64 // of the store, to which its answers belong
	zxid        atomic.Int64 // the newest one that the conn has seen

	mu       sync.Mutex // guards all below
	requests sync.WaitGroup
	link     *link
	up       chan struct{} // closed while the session has a link
	isUp     bool
	timeout  time.Duration  // of the session; 0 while there is none
	failures int            // failed attempts since the last link
	answers  connectAnswers // until a server has opened the session
	lastErr  error
	password []byte        // of the session; a server asks for it when a client takes the session up again
	denied   chan struct{} // closed when all servers that answer deny
}

// connOwner is told what happens to a conn. Its methods are called on the library's goroutines
// and must not block.
type connOwner interface {
	connected(handshake)   // a server has opened the session, or taken it up again
	disconnected()         // the link is broken
	expired()              // the store has dropped the session
	fired(zookeeper.Event) // a watch has fired
}

// openConn starts a client. It returns when the client has a session, is authenticated, and knows the
// incarnation of the store. sent is when the first request was sent that the store has answered. With
// oneLink the conn ends with its first link.
func openConn(ctx context.Context, cfg *Config, id *identity, o connOwner, oneLink bool) (_ *conn, sent time.Time, _ error) {
	c := &conn{
		config:   cfg,
		identity: id,
		since:    id.now(),
		owner:    o,
		oneLink:  oneLink,
		slots:    make(chan struct{}, maxInFlight),
		up:       make(chan struct{}),
		denied:   make(chan struct{}),
	}
	c.incarnation.Store(int64(c.since.incarnation))
	c.ctx, c.stop = context.WithCancel(context.Background())
	log := cfg.Logger.WithOptions(zap.AddCallerSkip(1)).Sugar()
	var err error
	c.client, c.events, err = zookeeper.Connect(cfg.Servers, cfg.SessionTimeout,
		zookeeper.WithDialer(c.dial),
		zookeeper.WithHostProvider(&hosts{over: c.ctx.Done()}),
		zookeeper.WithEventCallback(c.onEvent),
		zookeeper.WithLogger(logger{log}),
		zookeeper.WithMaxConnBufferSize(lengthPrefix+maxPacket))
	if err != nil {
		c.stop()
		return nil, sent, fmt.Errorf("%w: %w", coord.ErrUnavailable, err)
	}
	err = c.awaitLink(ctx)
	for _, digest := range cfg.digests() {
		if err == nil {
			err = c.authenticate(ctx, digest)
		}
	}
	if err == nil {
		sent, err = c.firstSync(ctx)
	}
	if err != nil {
		_ = c.close(ctx) // err is what matters
		return nil, sent, err
	}
	// The server knows the write that opened the session, which is later than everything that was
	// seen before. So a smaller zxid means that the store was restored.
	incarnation, _ := id.judge(c.since, c.zxid.Load())
	c.incarnation.Store(int64(incarnation))
	return c, sent, nil
}

// noteZxid records the zxid of a reply.
func (c *conn) noteZxid(zxid int64) {
	if zxid > c.zxid.Load() { // no race: only one link at a time calls this
		c.zxid.Store(zxid)
	}
	c.identity.noteZxid(int(c.incarnation.Load()), zxid)
}

// firstSync makes a request that the leader has to answer, and returns when it was sent. If the
// answer takes long it asks again on another link.
func (c *conn) firstSync(ctx context.Context) (sent time.Time, err error) {
	for {
		sent, err = c.firstSyncOnce(ctx)
		if err == nil || ctx.Err() != nil || c.ctx.Err() != nil || !isLost(err) && !errors.Is(err, errTimeout) {
			return sent, convertError(err, "")
		}
	}
}

func (c *conn) firstSyncOnce(ctx context.Context) (sent time.Time, err error) {
	if err := c.awaitLink(ctx); err != nil {
		return sent, &endedError{err}
	}
	sent = time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, c.sessionTimeout()/3, errTimeout)
	defer cancel()
	_, err = call(contextOnly(limited), c, func(client *zookeeper.Conn) (string, error) { return client.Sync("/") })
	if errors.Is(err, errTimeout) {
		c.breakLink(sent)
	}
	return sent, err
}

// sessionTimeout is the time-out that the store has granted.
func (c *conn) sessionTimeout() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timeout
}

// awaitLink waits for a link. It fails if there will be none.
func (c *conn) awaitLink(ctx context.Context) error {
	c.mu.Lock()
	up := c.up
	c.mu.Unlock()
	select {
	case <-up:
		return nil
	case <-c.ctx.Done():
		return errConnEnded
	case <-c.denied:
		return fmt.Errorf("%w: %w", coord.ErrDenied, c.answers.denial)
	case <-ctx.Done():
		if why := c.lastFailure(); why != nil {
			return fmt.Errorf("%w (%w)", context.Cause(ctx), why)
		}
		return context.Cause(ctx)
	}
}

// lastFailure is the error of the last attempt to connect, or nil.
func (c *conn) lastFailure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastErr
}

// authenticate logs in. Once that has succeeded the library repeats it on every later link,
// before anything else.
func (c *conn) authenticate(ctx context.Context, digest string) error {
	for {
		_, err := call(contextOnly(ctx), c, func(client *zookeeper.Conn) (struct{}, error) {
			return struct{}{}, client.AddAuth("digest", []byte(digest))
		})
		if err == nil || !isLost(err) || c.ctx.Err() != nil {
			return convertError(err, "")
		}
	}
}

// onEvent is called by the library for every event, on the library's goroutines.
func (c *conn) onEvent(event zookeeper.Event) {
	if event.Type == zookeeper.EventNotWatching {
		return // the client is being closed
	}
	if event.Type != zookeeper.EventSession {
		c.owner.fired(event)
		return
	}
	switch event.State {
	case zookeeper.StateHasSession:
		c.linkUp()
	case zookeeper.StateExpired:
		c.expire() // before the library opens another session
	case zookeeper.StateDisconnected:
		if c.linkDown() {
			if c.oneLink {
				c.end() // before the library opens another link
			}
			c.owner.disconnected()
		}
	}
}

// linkUp is called when the session has a link.
func (c *conn) linkUp() {
	c.mu.Lock()
	if c.link == nil { // it broke meanwhile; the library will notice that
		c.mu.Unlock()
		return
	}
	h, _ := c.link.handshake()
	c.failures, c.lastErr, c.timeout, c.password = 0, nil, h.timeout, h.password
	c.mu.Unlock()
	c.owner.connected(*h) // before requests are sent: the owner may end the session, if the link came too late
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isUp {
		c.isUp = true
		close(c.up)
	}
}

// expire ends the conn, because the store has dropped its session.
func (c *conn) expire() {
	c.end()
	c.owner.expired()
}

// linkDown is called when the link has broken. It reports whether the session had one.
func (c *conn) linkDown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		if h, err := c.link.handshake(); h == nil {
			if err == nil {
				err = errNoHandshake
			}
			c.failLocked(c.link.address, fmt.Errorf("handshake with %s: %w", c.link.RemoteAddr(), err))
		}
		_ = c.link.Close() // when the session has expired the library leaves it open
		c.link = nil
	}
	wasUp := c.isUp
	if wasUp {
		c.isUp = false
		c.up = make(chan struct{})
	}
	return wasUp
}

var errNoHandshake = errors.New("no answer")

// breakLink closes the link if it was opened before a time. The library then opens another.
func (c *conn) breakLink(openedBefore time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil && c.link.opened.Before(openedBefore) {
		_ = c.link.Close()
	}
}

// end makes the conn open no more links and send no more requests.
func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
}

const (
	// closeTimeout is how long the library waits for the answer when it ends a session.
	closeTimeout = time.Second
	// queueTime is more than the library needs to queue a request.
	queueTime = 10 * time.Millisecond
)

// close ends the session at the store, if there is a link, and waits for everything that
// the conn has started. When ctx ends it sends nothing more to the store.
func (c *conn) close(ctx context.Context) error {
	c.mu.Lock()
	told := c.isUp
	c.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { c.breakLink(time.Now()) })
	defer stop()

	begun := time.Now()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.client.Close()
	}()
	if !told {
		// Without a link nobody answers the request of client.Close, and c.end makes it fail.
		// But it has to be queued before, or client.Close would wait for its time-out.
		timer := time.NewTimer(queueTime)
		select {
		case <-timer.C:
		case <-closed:
		}
		timer.Stop()
		c.end()
	}
	<-closed
	told = told && ctx.Err() == nil && time.Since(begun) < closeTimeout
	c.end()
	c.breakLink(time.Now())
	for range c.events { // wait until the library's goroutines have ended
	}
	c.requests.Wait()
	if !told {
		return fmt.Errorf("%w: the store did not confirm the end of the session, which will time out there", coord.ErrUnavailable)
	}
	return nil
}

// logger passes on what the library says.
type logger struct{ to *zap.SugaredLogger }

func (l logger) Printf(format string, args ...any) {
	l.to.Debugf("client library: "+strings.TrimSpace(format), args...)
}
