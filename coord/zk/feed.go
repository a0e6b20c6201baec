package zk

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	zookeeper "github.com/go-zookeeper/zk"
	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord/internal/broadcast"
	"github.com/elasticjob-go/elasticjob/internal/liveness"
)

// feed keeps the registry's second connection, for the watches of views and latches. It is open while
// there are any.
//
// The client library cannot remove a watch. After a broken link it sets its watches again at some
// later time, and only logs its errors. So this connection is closed when its link breaks, with all
// its watches, and everybody reads again on the next one.
type feed struct {
	r          *Registry
	maxOrphans int // of a connection

	mu      sync.Mutex       // guards all below
	users   int              // how many views and latches need a connection
	conn    *watchConn       // nil while there is none
	changed broadcast.Signal // of one of these
}

// update changes the feed under its lock, and wakes those who wait for a change.
func (f *feed) update(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	f.changed.Fire()
}

// addUser keeps a connection open until removeUser.
func (f *feed) addUser() { f.update(func() { f.users++ }) }

func (f *feed) removeUser() { f.update(func() { f.users-- }) }

// next returns a connection that has not ended, and waits for one if necessary.
func (f *feed) next(l limit) (*watchConn, error) {
	return awaitUsable(f.r, l, func() (*watchConn, bool, <-chan struct{}) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.conn, f.conn != nil && f.conn.ctx.Err() == nil, f.changed.Next()
	})
}

// current is the connection, or nil while there is none.
func (f *feed) current() *watchConn {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.conn
}

// run opens one connection after the other while there are users, until the registry is closed. If
// none can be opened, all views have a fault.
func (f *feed) run() {
	failing := false
	short := 0 // how many connections in a row broke soon after they were opened
	for f.r.ctx.Err() == nil {
		f.mu.Lock()
		users, changed := f.users, f.changed.Next()
		f.mu.Unlock()
		if users == 0 {
			select {
			case <-changed:
			case <-f.r.ctx.Done():
			}
			continue
		}
		wc, err := f.open()
		if err != nil {
			if f.r.ctx.Err() == nil {
				if !failing {
					f.r.log.Warn("cannot open the connection for watches; views may be old", zap.Error(err))
				}
				failing = true
				f.r.views.setFailure(err)
				f.r.pause()
			}
			continue
		}
		failing = false
		begun := time.Now()
		f.update(func() { f.conn = wc })
		f.r.endOutdated()
		f.await(wc)
		f.update(func() { f.conn = nil })
		wc.end(nil)
		closeConn := func() { _ = wc.conn.close(f.r.closeCtx) } // its session has no nodes, so it does not matter if that fails
		if !f.r.start(closeConn) {
			closeConn()
		}
		if errors.Is(context.Cause(wc.ctx), errLinkBroken) && time.Since(begun) < f.r.config.MaxBackoff {
			if short++; short > 1 {
				f.r.pause() // otherwise everything would be read again and again
			}
		} else {
			short = 0
		}
	}
}

func (f *feed) open() (*watchConn, error) {
	wc := &watchConn{liveness: &f.r.liveness, maxOrphans: f.maxOrphans, subscribers: make(map[string][]*changeSet)}
	wc.ctx, wc.end = context.WithCancelCause(context.Background())
	ctx, cancel := context.WithTimeoutCause(f.r.ctx, f.r.config.DialTimeout, errTimeout)
	defer cancel()
	conn, _, err := openConn(ctx, &f.r.config, &f.r.identity, wc, true)
	if err != nil {
		wc.end(err)
		return nil, err
	}
	wc.conn = conn
	wc.liveness.Answered()
	return wc, nil
}

// await returns when a connection has ended, or has no users any more.
func (f *feed) await(wc *watchConn) {
	for {
		f.mu.Lock()
		users, changed := f.users, f.changed.Next()
		f.mu.Unlock()
		if users == 0 {
			return
		}
		select {
		case <-wc.ctx.Done():
			return
		case <-f.r.ctx.Done():
			return
		case <-changed:
		}
	}
}

// watchConn is a connection for watches. It ends when its link breaks.
type watchConn struct {
	conn       *conn
	liveness   *liveness.Monitor
	ctx        context.Context // ends with the connection
	end        context.CancelCauseFunc
	maxOrphans int

	mu          sync.Mutex              // guards all below
	subscribers map[string][]*changeSet // by path
	orphans     int                     // watches without a subscriber
}

// errLinkBroken is the cause of the end of a connection whose link broke.
var errLinkBroken = errors.New("the link broke")

// maxOrphans is how many watches without a subscriber a connection may have before it is replaced. A
// watch takes some 300 bytes here, and fewer at the server.
const maxOrphans = 50_000

// The methods of owner.

func (wc *watchConn) connected(handshake) {}

func (wc *watchConn) disconnected() { wc.end(errLinkBroken) }

func (wc *watchConn) expired() { wc.end(errLinkBroken) }

func (wc *watchConn) fired(event zookeeper.Event) {
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
	wc.liveness.Answered()
	wc.mu.Lock()
	defer wc.mu.Unlock()
	for path := event.Path; ; path = parentOf(path) {
		for _, cs := range wc.subscribers[path] {
			cs.put(event.Path, what)
		}
		if path == "/" {
			return
		}
	}
}

// subscribe returns a set in which changes at and below a path are collected.
func (wc *watchConn) subscribe(path string) *changeSet {
	cs := &changeSet{path: path, woken: make(chan struct{}, 1)}
	wc.mu.Lock()
	defer wc.mu.Unlock()
	wc.subscribers[path] = append(wc.subscribers[path], cs)
	return cs
}

// unsubscribe removes a set. watches is how many watches were set for it.
func (wc *watchConn) unsubscribe(cs *changeSet, watches int) {
	wc.mu.Lock()
	wc.orphans += watches
	full := wc.orphans > wc.maxOrphans
	rest := slices.DeleteFunc(wc.subscribers[cs.path], func(other *changeSet) bool { return other == cs })
	if len(rest) == 0 {
		delete(wc.subscribers, cs.path)
	} else {
		wc.subscribers[cs.path] = rest
	}
	wc.mu.Unlock()
	if full {
		wc.end(nil)
	}
}

// change says what happened at a path.
type change uint8

const (
	valueChanged change = 1 << iota
	childrenChanged
	removed
	created
	retried // nothing is known to have changed, but the node is to be read again
)

// changeSet collects changes until they are taken.
type changeSet struct {
	path  string
	woken chan struct{} // has an element after put and after wake

	mu      sync.Mutex
	changes map[string]change
}

func (cs *changeSet) put(path string, what change) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.changes == nil {
		cs.changes = make(map[string]change)
	}
	cs.changes[path] |= what
	cs.wake()
}

func (cs *changeSet) wake() {
	select {
	case cs.woken <- struct{}{}:
	default:
	}
}

// take returns the changes, and empties the set.
func (cs *changeSet) take() map[string]change {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	changes := cs.changes
	cs.changes = nil
	return changes
}

func (cs *changeSet) isEmpty() bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return len(cs.changes) == 0
}
