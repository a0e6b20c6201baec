package zk

import (
	"context"
	"slices"
	"sync"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/liveness"
)

// feed is the registry's second connection, on which views and latches watch.
//
// The client library cannot remove a watch. After a broken link it sets its watches again
// at some later time, and only logs its errors. So watches have a connection of their own,
// which is open while somebody watches. When its link breaks it is closed, with all its
// watches, and everybody reads again on the next one.
type feed struct {
	r          *Registry
	maxOrphans int // of a channel

	mu      sync.Mutex    // guards all below
	users   int           // how many views and latches need a channel
	channel *channel      // nil while there is none
	changed chan struct{} // closed when one of these changes
}

// update changes the state of the feed, and wakes those who wait for that.
func (f *feed) update(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

// use says that somebody needs a channel until leave.
func (f *feed) use() { f.update(func() { f.users++ }) }

func (f *feed) leave() { f.update(func() { f.users-- }) }

// next waits for a channel that has not ended.
func (f *feed) next(l limit) (*channel, error) {
	for {
		f.mu.Lock()
		ch, changed := f.channel, f.changed
		f.mu.Unlock()
		if f.r.ctx.Err() != nil {
			return nil, context.Cause(f.r.ctx)
		}
		if err := l.over(); err != nil {
			return nil, err
		}
		if ch != nil && !ch.isDown() {
			return ch, nil
		}
		select {
		case <-changed:
		case <-f.r.ctx.Done():
		case <-l.Done():
		case <-l.late:
		}
	}
}

// current is the channel, or nil while there is none.
func (f *feed) current() *channel {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.channel
}

// run opens channels while they are needed, until the registry is closed. If none can be
// opened, that is a fault of all views.
func (f *feed) run() {
	failing := false
	short := 0 // how many channels in a row broke soon
	for f.r.ctx.Err() == nil {
		f.mu.Lock()
		users, changed := f.users, f.changed
		f.mu.Unlock()
		if users == 0 {
			select {
			case <-changed:
			case <-f.r.ctx.Done():
			}
			continue
		}
		ch, err := f.open()
		if err != nil {
			if f.r.ctx.Err() == nil {
				if !failing {
					f.r.log.Warn("cannot open the connection for watches; views may be old", zap.Error(err))
				}
				failing = true
				f.r.views.fail(err)
				f.r.pause()
			}
			continue
		}
		failing = false
		begun := time.Now()
		f.update(func() { f.channel = ch })
		f.r.endOutdated()
		f.await(ch)
		f.update(func() { f.channel = nil })
		ch.end()
		closeChannel := func() { _ = ch.conn.close(f.r.closeCtx) } // its session has no nodes, so it does not matter if that fails
		if !f.r.spawn(closeChannel) {
			closeChannel()
		}
		if ch.isBroken() && time.Since(begun) < f.r.cfg.MaxBackoff {
			if short++; short > 1 {
				f.r.pause() // otherwise everything would be read again and again
			}
		} else {
			short = 0
		}
	}
}

func (f *feed) open() (*channel, error) {
	ch := &channel{liveness: &f.r.liveness, down: make(chan struct{}), maxOrphans: f.maxOrphans, inboxes: make(map[string][]*inbox)}
	ctx, cancel := context.WithTimeoutCause(f.r.ctx, f.r.cfg.DialTimeout, errTimeout)
	defer cancel()
	conn, _, err := openConn(ctx, &f.r.cfg, &f.r.history, ch, true)
	if err != nil {
		return nil, err
	}
	ch.conn = conn
	ch.liveness.Answered()
	return ch, nil
}

// await returns when a channel has ended, or nobody needs it any more.
func (f *feed) await(ch *channel) {
	for {
		f.mu.Lock()
		users, changed := f.users, f.changed
		f.mu.Unlock()
		if users == 0 {
			return
		}
		select {
		case <-ch.down:
			return
		case <-f.r.ctx.Done():
			return
		case <-changed:
		}
	}
}

// channel is a connection of the feed. It ends when its link breaks.
type channel struct {
	conn       *conn
	liveness   *liveness.Monitor
	down       chan struct{} // closed when it has ended
	maxOrphans int

	mu      sync.Mutex // guards all below
	ended   bool
	broken  bool                // it has ended because its link broke
	inboxes map[string][]*inbox // by path
	orphans int                 // watches that nobody needs any more
}

// maxOrphans is how many watches that nobody needs a channel may have before it is replaced.
// One watch takes some 300 bytes here, and fewer at the server.
const maxOrphans = 50_000

func (ch *channel) isDown() bool {
	select {
	case <-ch.down:
		return true
	default:
		return false
	}
}

func (ch *channel) end() {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if !ch.ended {
		ch.ended = true
		close(ch.down)
	}
}

// isBroken reports whether the channel has ended because its link broke.
func (ch *channel) isBroken() bool {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.broken
}

// endWithLink ends the channel because its link broke.
func (ch *channel) endWithLink() {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if !ch.ended {
		ch.ended, ch.broken = true, true
		close(ch.down)
	}
}

// The methods of owner.

func (ch *channel) connected(handshake) {}

func (ch *channel) disconnected() { ch.endWithLink() }

func (ch *channel) expired() { ch.endWithLink() }

func (ch *channel) fired(event zookeeper.Event) {
	var what change
	switch event.Type {
	case zookeeper.EventNodeCreated:
		what = created
	case zookeeper.EventNodeDeleted:
		what = removed
	case zookeeper.EventNodeDataChanged:
		what = valueChanged
	case zookeeper.EventNodeChildrenChanged:
		what = childrenChanged
	default:
		return
	}
	ch.liveness.Answered()
	ch.mu.Lock()
	defer ch.mu.Unlock()
	for path := event.Path; ; path = parentOf(path) {
		for _, in := range ch.inboxes[path] {
			in.put(event.Path, what)
		}
		if path == "/" {
			return
		}
	}
}

// subscribe makes an inbox for changes at and below a path.
func (ch *channel) subscribe(path string) *inbox {
	in := &inbox{path: path, woken: make(chan struct{}, 1)}
	ch.mu.Lock()
	defer ch.mu.Unlock()
	ch.inboxes[path] = append(ch.inboxes[path], in)
	return in
}

// unsubscribe removes an inbox, whose user leaves so many watches behind.
func (ch *channel) unsubscribe(in *inbox, watches int) {
	ch.mu.Lock()
	ch.orphans += watches
	full := ch.orphans > ch.maxOrphans
	rest := slices.DeleteFunc(ch.inboxes[in.path], func(other *inbox) bool { return other == in })
	if len(rest) == 0 {
		delete(ch.inboxes, in.path)
	} else {
		ch.inboxes[in.path] = rest
	}
	ch.mu.Unlock()
	if full {
		ch.end()
	}
}

// change says what happened at a path.
type change uint8

const (
	valueChanged change = 1 << iota
	childrenChanged
	removed
	created
	retried // nobody knows of a change, but the node is to be read again
)

// inbox collects what happened since it was last emptied.
type inbox struct {
	path  string
	woken chan struct{} // has an element when the inbox is not empty, or somebody called wake

	mu      sync.Mutex
	changes map[string]change
}

func (in *inbox) put(path string, what change) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.changes == nil {
		in.changes = make(map[string]change)
	}
	in.changes[path] |= what
	in.wake()
}

func (in *inbox) wake() {
	select {
	case in.woken <- struct{}{}:
	default:
	}
}

// take returns what has happened, and empties the inbox.
func (in *inbox) take() map[string]change {
	in.mu.Lock()
	defer in.mu.Unlock()
	changes := in.changes
	in.changes = nil
	return changes
}

func (in *inbox) isEmpty() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.changes) == 0
}
