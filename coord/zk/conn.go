package zk

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
)

// maxInFlight bounds the requests of one connection that wait for an answer.
const maxInFlight = 1024

// conn is one client of the library, with one session. When its network link breaks it
// opens another, as long as the session lives.
//
// The library itself would open a new session when it learns that its own has expired, and
// send in it what is still queued for the old one. A conn ends with its session: from then
// on it opens no link.
type conn struct {
	cfg     *Config
	history *history
	since   moment // in the history, when the conn began
	owner   owner
	oneLink bool // the conn ends with its first link
	client  *zookeeper.Conn
	events  <-chan zookeeper.Event // closed when the library's goroutines have ended
	slots   chan struct{}
	ctx     context.Context // ends with the conn
	stop    context.CancelFunc
	era     atomic.Int64 // of the history, to which the store's answers belong
	zxid    atomic.Int64 // the newest that the conn has seen

	mu       sync.Mutex // guards all below
	requests sync.WaitGroup
	link     *link
	up       chan struct{} // closed while the session has a link
	isUp     bool
	timeout  time.Duration // of the session; 0 while there is none
	failures int           // failed attempts since the last link
	answers  answers       // of the servers, until one of them has opened the session
	lastErr  error
	password []byte        // of the session; a server asks for it when a client takes the session up again
	denied   chan struct{} // closed when all servers that answer deny
}

// owner is told what happens to a conn. Its methods are called on the library's goroutines
// and must not block.
type owner interface {
	connected(handshake)   // a server has opened the session, or taken it up again
	disconnected()         // the link is broken
	expired()              // the store has dropped the session
	fired(zookeeper.Event) // a watch has fired
}

// openConn starts a client. It returns when the client has a session, is authenticated,
// and knows its era. It also returns when the first request was sent to which the store has
// answered. With oneLink the conn ends with its first link.
func openConn(ctx context.Context, cfg *Config, h *history, o owner, oneLink bool) (_ *conn, sent time.Time, _ error) {
	c := &conn{
		cfg:     cfg,
		history: h,
		since:   h.now(),
		owner:   o,
		oneLink: oneLink,
		slots:   make(chan struct{}, maxInFlight),
		up:      make(chan struct{}),
		denied:  make(chan struct{}),
	}
	c.era.Store(int64(c.since.era))
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
	err = c.await(ctx)
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
	// The write that opened the session is later than everything that was seen before,
	// and the server knows that write. So a smaller zxid means that the store went back.
	era, _ := h.judge(c.since, c.zxid.Load())
	c.era.Store(int64(era))
	return c, sent, nil
}

// saw notes the zxid of a reply.
func (c *conn) saw(zxid int64) {
	if zxid > c.zxid.Load() { // no race: only one link at a time calls this
		c.zxid.Store(zxid)
	}
	c.history.saw(int(c.era.Load()), zxid)
}

// firstSync makes the leader answer, and returns when that request was sent. If the answer
// takes long it asks again on another link.
func (c *conn) firstSync(ctx context.Context) (sent time.Time, err error) {
	for {
		sent, err = c.firstSyncOnce(ctx)
		if err == nil || ctx.Err() != nil || c.ctx.Err() != nil || !isLost(err) && !errors.Is(err, errTimeout) {
			return sent, convertError(err, "")
		}
	}
}

func (c *conn) firstSyncOnce(ctx context.Context) (sent time.Time, err error) {
	if err := c.await(ctx); err != nil {
		return sent, &endedError{err}
	}
	sent = time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, c.granted()/3, errTimeout)
	defer cancel()
	_, err = call(unlimited(limited), c, func(client *zookeeper.Conn) (string, error) { return client.Sync("/") })
	if errors.Is(err, errTimeout) {
		c.breakLink(sent)
	}
	return sent, err
}

// granted is the session's time-out.
func (c *conn) granted() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timeout
}

// await waits for a link. It returns an error if there will be none.
func (c *conn) await(ctx context.Context) error {
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
		_, err := call(unlimited(ctx), c, func(client *zookeeper.Conn) (struct{}, error) {
			return struct{}{}, client.AddAuth("digest", []byte(digest))
		})
		if err == nil || !isLost(err) || c.ctx.Err() != nil {
			return convertError(err, "")
		}
	}
}

// dial opens a link; it is the library's dialer.
func (c *conn) dial(_, address string, _ time.Duration) (net.Conn, error) {
	if err := c.backOff(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.attemptTimeout())
	defer cancel()
	l, err := c.dialLink(ctx, address)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil && c.ctx.Err() != nil {
		_ = l.Close()
		err = errConnEnded
	}
	if err != nil {
		c.failLocked(address, err)
		return nil, err
	}
	l.address = address
	c.link = l
	return l, nil
}

func (c *conn) dialLink(ctx context.Context, address string) (*link, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if c.cfg.TLS != nil {
		secure := tls.Client(raw, tlsFor(c.cfg.TLS, address))
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			return nil, fmt.Errorf("TLS with %s: %w", address, err)
		}
		raw = secure
	}
	raw = &stamps{Conn: raw, saw: c.saw, erase: c.oneLink}
	deadline, _ := ctx.Deadline()
	l, err := newLink(raw, deadline)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return l, nil
}

// attemptTimeout bounds one attempt to open a link, including the handshake. For the first
// link a server has a quarter of its share of DialTimeout, and twice as long after each round:
// a server that has just been started may take a client's connect request and never answer
// it, and the next request must have time left. Later links have less time, because the
// session would end.
func (c *conn) attemptTimeout() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	const least = 500 * time.Millisecond
	if c.timeout == 0 {
		servers := len(c.cfg.Servers)
		share := c.cfg.DialTimeout / time.Duration(servers)
		return max(least, share/4<<min(c.failures/servers, 2))
	}
	return max(least, c.timeout/6)
}

// backOff waits before an attempt to connect: not in the first round over the servers, and
// longer after each round.
func (c *conn) backOff() error {
	c.mu.Lock()
	rounds := c.failures / len(c.cfg.Servers)
	longest := c.cfg.MaxBackoff
	if c.timeout > 0 {
		longest = min(longest, c.timeout/10)
	}
	c.mu.Unlock()
	if rounds == 0 {
		return c.ctx.Err()
	}
	wait := min(longest, minBackoff<<min(rounds-1, 10))
	wait = wait/2 + rand.N(wait/2+1)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.ctx.Done():
		return errConnEnded
	}
}

// failLocked notes an attempt to connect that failed.
func (c *conn) failLocked(address string, err error) {
	c.failures++
	c.lastErr = err
	if c.timeout != 0 || c.answers.denial != nil {
		return
	}
	c.answers.note(address, err)
	if c.answers.allDeny(c.cfg.Servers) {
		c.answers.denial = c.answers.denied[0]
		close(c.denied)
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

// linkUp notes that the session has a link.
func (c *conn) linkUp() {
	c.mu.Lock()
	if c.link == nil { // it broke meanwhile; the library will notice that
		c.mu.Unlock()
		return
	}
	h, _ := c.link.handshake()
	c.failures, c.lastErr, c.timeout, c.password = 0, nil, h.timeout, h.password
	c.mu.Unlock()
	c.owner.connected(*h) // before requests are sent: it may end the session, because this is too late
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isUp {
		c.isUp = true
		close(c.up)
	}
}

// expire ends a conn whose session the store has dropped.
func (c *conn) expire() {
	c.end()
	c.owner.expired()
}

// linkDown notes that the link is broken. It reports whether the session had one.
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

// breakLink closes the link if it was opened before a time, so that the library opens
// another.
func (c *conn) breakLink(openedBefore time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil && c.link.opened.Before(openedBefore) {
		_ = c.link.Close()
	}
}

// start runs a request on a goroutine of its own, as soon as there are a link and a free
// slot. The library's calls take no context, so a call that nobody waits for any more goes
// on. close makes such calls return, and waits for them.
func (c *conn) start(l limit, request func(*zookeeper.Conn)) error {
	if err := l.over(); err != nil {
		return &unsentError{err}
	}
	c.mu.Lock()
	up, isUp := c.up, c.isUp
	c.mu.Unlock()
	if !isUp {
		select {
		case <-up:
		case <-l.Done():
			return &unsentError{l.over()}
		case <-l.late:
			return &unsentError{l.over()}
		case <-c.ctx.Done():
			return &unsentError{errConnEnded}
		}
	}
	select {
	case c.slots <- struct{}{}:
	case <-l.Done():
		return &unsentError{l.over()}
	case <-l.late:
		return &unsentError{l.over()}
	case <-c.ctx.Done():
		return &unsentError{errConnEnded}
	}
	return c.runInSlot(request)
}

// tryStart runs a request if there is a free slot. It reports whether it did.
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

// run runs a request on a goroutine of its own, without waiting for a link or a slot.
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
		return none, &unansweredError{l.over()}
	case <-l.late:
		return none, &unansweredError{l.over()}
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
		// Without a link nobody answers the request that client.Close makes; the end of
		// the conn makes that request fail. But it must be queued before the conn ends,
		// or client.Close would wait for its time-out.
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

// hosts gives the servers to the library in turn. It also makes the library stop: the
// library checks whether it was closed only after a round over the servers has failed.
type hosts struct {
	over <-chan struct{} // closed when the conn has ended

	mu      sync.Mutex
	servers []string
	next    int
}

// Init is called once, with the servers in random order.
func (h *hosts) Init(servers []string) error {
	h.servers = servers
	return nil
}

// Len is the number of servers.
func (h *hosts) Len() int { return len(h.servers) }

// Connected is called after a handshake. Next returns another server in any case.
func (h *hosts) Connected() {}

// Next says that a round has failed only when the conn has ended. Otherwise the library
// would wait for a second after each round; how long to wait is up to the dialer.
func (h *hosts) Next() (server string, failed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	server = h.servers[h.next%len(h.servers)]
	h.next++
	select {
	case <-h.over:
		return server, true
	default:
		return server, false
	}
}

// logger passes on what the library says.
type logger struct{ to *zap.SugaredLogger }

func (l logger) Printf(format string, args ...any) {
	l.to.Debugf("client library: "+strings.TrimSpace(format), args...)
}
