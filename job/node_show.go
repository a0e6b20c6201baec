package job

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// showEvery is the shortest time between two writes of a node's own node in the tree.
	showEvery = 5 * time.Second
	// maxShowPause bounds the time between two attempts that fail.
	maxShowPause = time.Minute
)

// sign is the ephemeral node in which a node shows all leaders how many items it has, and what it
// offers if it is a Runner. The controllers of its jobs write it, or the Runner, one at a time.
// It helps leaders to deal, and tells operators; nothing depends on it.
type sign struct {
	prefix string // of the id; the session follows, because each session has a sign of its own

	mu      sync.Mutex
	shows   jobtree.NodeDocument // but for the items
	keeper  func()               // tells a Runner to look after it; nil if nobody runs one: it goes with the last job
	isBusy  bool                 // somebody writes it
	session coord.SessionID
	isThere bool          // it was written in this session, as far as is known
	told    int           // the items that it shows; -1 if that, or something else in it, is to be written
	next    clocks.Moment // when it may be written again
	pause   time.Duration // after the next failure
}

func newSign(address string) *sign {
	var random [6]byte
	rand.Read(random[:]) // never fails
	return &sign{
		prefix: jobtree.InstanceID(address, os.Getpid(), hex.EncodeToString(random[:])) + "-",
		shows:  jobtree.NodeDocument{Address: address},
	}
}

// id returns the id of the sign in a session; "" if there is none.
func (s *sign) id(session coord.SessionID) string {
	if s == nil || session == 0 {
		return ""
	}
	return s.prefix + strconv.FormatUint(uint64(session), 16)
}

// keep makes the sign show what a Runner offers, until that ends. keeper is called when the last
// job has left: the sign stays, and is the Runner's to write.
func (s *sign) keep(offers, labels []string, keeper func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shows.Offers, s.shows.Labels, s.keeper, s.told = offers, labels, keeper, -1
}

// due returns the operation that makes the sign show how many items there are now; nil if it
// does, or may not be written yet. After that time it may. Whoever gets an operation has to
// call wrote.
func (s *sign) due(session coord.SessionID, items int, now clocks.Moment) (write *coord.Op, left time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != session && !s.isBusy {
		s.session, s.isThere, s.told, s.next, s.pause = session, false, -1, clocks.Moment{}, 0
	}
	switch left = s.next.Sub(now); {
	case s.isThere && s.told == items:
		return nil, 0
	case s.isBusy:
		return nil, showEvery
	case left > 0:
		return nil, left
	}
	s.isBusy, s.told = true, items
	document := s.shows
	document.Items = items
	op := coord.CreateEphemeral(jobtree.Node(s.id(session)), jobtree.EncodeNode(document))
	if s.isThere {
		op = coord.Set(op.Path, op.Value)
	}
	return &op, 0
}

// wrote takes in what has become of the operation.
func (s *sign) wrote(err error, now clocks.Moment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isBusy = false
	if err == nil {
		s.isThere, s.pause, s.next = true, 0, now.Add(showEvery)
		return
	}
	// It may be there or not: an answer was lost, or a stranger has removed it.
	s.isThere, s.told = !s.isThere, -1
	s.pause = min(max(2*s.pause, showEvery), maxShowPause)
	s.next = now.Add(s.pause)
}

// showLoad shows how many items the jobs of this node have.
func (c *controller) showLoad(w *decide.World) error {
	if c.sign == nil {
		return nil
	}
	write, left := c.sign.due(c.self.Session, c.itemCount.all.sum(), w.Moment)
	if left > 0 {
		c.wakeIn(left)
	}
	if write == nil {
		return nil
	}
	err := errEnded // if the registry panics
	defer func() { c.sign.wrote(err, w.Moment) }()
	if _, err = c.reg.Commit(c.session.Context(), *write); err != nil {
		c.log.Debug("other processes are not told how many items this one has", zap.Error(brief.Error(err)))
		c.wakeIn(showEvery)
	}
	return nil
}

// lastLeft says that the last job of the node has left. The sign goes then, unless a Runner keeps
// it.
func (c *controller) lastLeft() {
	s := c.sign
	if s == nil || c.session == nil {
		return
	}
	s.mu.Lock()
	keeper := s.keeper
	s.mu.Unlock()
	if keeper != nil {
		keeper()
		return
	}
	s.takeDown(c.reg, c.session)
}

// takeDown removes the sign. If that fails, it ends with the session.
func (s *sign) takeDown(reg coord.Registry, session coord.Session) {
	s.mu.Lock()
	isMine := s.isThere && !s.isBusy && s.session == session.ID()
	if isMine {
		s.isThere, s.isBusy, s.told, s.next = false, true, -1, clocks.Moment{}
	}
	s.mu.Unlock()
	if !isMine {
		return
	}
	ctx, cancel := context.WithTimeout(session.Context(), partingTime)
	defer cancel()
	_, err := reg.Commit(ctx, coord.DeleteTree(jobtree.Node(s.id(session.ID()))))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isBusy, s.isThere = false, err != nil
}
