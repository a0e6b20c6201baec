package connection

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Past answers questions about the history in a database, and keeps changes there.
//
// Errors of its methods, beside those of package history: ErrDatabaseAway with the reason, ErrClosed, the
// cause of ctx.
type Past interface {
	history.Reader
	trace.Sink
}

// History is an open database.
type History interface {
	Past
	// Ping logs in. Its errors are best a *TestError.
	Ping(ctx context.Context) error
	Close() error
}

const (
	// askTime is less than the time that a request has, and writeTime less than what ops gives a trace:
	// so an answer has the reason, and a database that hangs is known to be away.
	askTime    = 20 * time.Second
	writeTime  = 4 * time.Second
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// past is a database that a book has. It is opened with the first question. When it is away, all questions
// are refused for a while, with the reason:
//
//	idle ──► connecting ──► connected ──┐
//	             ▲   │          ▲       │ a question fails, and none has
//	    the next │   ▼          │       ▼ succeeded since it was asked
//	    question └─ away        └──── away
type past struct {
	key   string // another one means another connection; empty if the program has given it
	name  string
	shown Database // guarded by Book.mu
	open  func() (h History, secret string, err error)
	state *tracker

	mu       sync.Mutex
	opening  chan struct{} // closed when the attempt has ended; nil if there is none
	history  History       // nil until it is open
	secret   string        // is in no error
	isClosed bool
	err      error     // of the last attempt or question, if that failed
	again    time.Time // until then questions are refused with err
	pause    time.Duration
	worked   int // how many questions have succeeded
}

var _ Past = (*past)(nil)

func newPast(key string, shown Database, open func() (History, string, error)) *past {
	return &past{key: key, name: shown.Name, shown: shown, open: open, state: newTracker("database", shown.Name)}
}

// get returns the open database, and opens it if nobody has; and how many questions have succeeded.
func (p *past) get(ctx context.Context) (h History, worked int, err error) {
	for {
		p.mu.Lock()
		switch {
		case p.isClosed:
			p.mu.Unlock()
			return nil, 0, ErrClosed
		case p.err != nil && time.Now().Before(p.again):
			defer p.mu.Unlock()
			return nil, 0, p.err
		case p.history != nil:
			defer p.mu.Unlock()
			return p.history, p.worked, nil
		}
		if p.opening == nil {
			p.opening = make(chan struct{})
			go p.try(p.opening) // close waits for it
		}
		opening := p.opening
		p.mu.Unlock()
		select {
		case <-opening:
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	}
}

// try opens the database.
func (p *past) try(done chan struct{}) {
	p.state.set(Connecting, nil)
	h, secret, err := p.open()
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(done)
	p.opening, p.secret = nil, secret
	switch {
	case err != nil:
		p.fail(err)
	case p.isClosed:
		_ = h.Close() // nobody has used it, so it does not matter if that fails
	default:
		p.history, p.err = h, nil
	}
}

// fail notes that the database is away. mu is held.
func (p *past) fail(err error) {
	p.err = fmt.Errorf("%w: %w", ErrDatabaseAway, hide(err, p.secret))
	p.pause = min(max(2*p.pause, firstPause), lastPause)
	p.again = time.Now().Add(p.pause)
	p.state.set(Away, hide(err, p.secret))
}

// ask asks a question, within a limit.
func ask[T any](ctx context.Context, p *past, limit time.Duration, question func(context.Context, History) (T, error)) (answer T, err error) {
	inTime, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer in %v", limit))
	defer cancel()
	h, worked, err := p.get(inTime)
	switch {
	case err == nil:
		answer, err = question(inTime, h)
		err = p.note(ctx, inTime, worked, err)
	case ctx.Err() == nil && inTime.Err() != nil:
		err = fmt.Errorf("%w: it is still being opened: %w", ErrDatabaseAway, err)
	}
	if err != nil {
		err = fmt.Errorf("database %s: %w", brief.Quote(p.name), err)
	}
	return answer, err
}

// note notes how a question has ended, and returns what its error is to be. ctx is that of whoever has
// asked, inTime has the limit too, and worked is what get has returned.
func (p *past) note(ctx, inTime context.Context, worked int, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil, errors.Is(err, history.ErrQuery), errors.Is(err, history.ErrNotFound):
		p.worked++
		p.err, p.pause = nil, 0
		p.state.set(Connected, nil)
		return hide(err, p.secret)
	case p.isClosed:
		return fmt.Errorf("%w: %w", ErrClosed, hide(err, p.secret))
	case ctx.Err() != nil: // whoever asked has no time, or is gone
		return fmt.Errorf("%w: %w", context.Cause(ctx), hide(err, p.secret))
	case inTime.Err() != nil:
		err = fmt.Errorf("%w: %w", context.Cause(inTime), err)
	}
	if p.worked == worked {
		p.fail(err)
	}
	return fmt.Errorf("%w: %w", ErrDatabaseAway, hide(err, p.secret))
}

func (p *past) isGiven() bool { return p.key == "" }

// keeps takes what is to be shown, if the connection stays the same. Book.mu is held.
func (p *past) keeps(key string, shown Database) bool {
	if p.key == key {
		p.shown = shown
	}
	return p.key == key
}

func (p *past) isUnused() bool { return p.state.get().Phase == Idle }

// close closes the database, and waits until nobody opens it any more.
func (p *past) close(ctx context.Context) error {
	p.mu.Lock()
	isClosed, opening := p.isClosed, p.opening
	p.isClosed = true
	p.mu.Unlock()
	if isClosed {
		return nil
	}
	if opening != nil {
		select {
		case <-opening:
		case <-ctx.Done():
			return fmt.Errorf("database %s: close: it is still being opened: %w", brief.Quote(p.name), context.Cause(ctx))
		}
	}
	if p.history == nil { // nobody writes it any more
		return nil
	}
	if err := p.history.Close(); err != nil {
		return fmt.Errorf("database %s: close: %w", brief.Quote(p.name), hide(err, p.secret))
	}
	return nil
}
