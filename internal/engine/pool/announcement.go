package pool

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const (
	// AnnounceEvery is the shortest time between two writes of the node of a process.
	AnnounceEvery = 5 * time.Second
	// maxAnnouncePause bounds the time between two attempts that fail.
	maxAnnouncePause = time.Minute
	// removeTime bounds the attempt to remove the node.
	removeTime = 5 * time.Second
)

// Announcement is the ephemeral node in which a process tells all leaders how many items it has, and what it
// offers if it is a Runner. The jobs of the process write it, or the Runner, one at a time.
// It helps leaders to assign items, and tells operators; nothing depends on it.
//
//	absent ──Announce──► present, as of a number of items ──Announce, at most every 5 s──► …
//	   ▲                    │
//	   └── a new session, LastLeft
type Announcement struct {
	prefix string // of the id; the session follows, because each session has a node of its own

	mu       sync.Mutex
	document jobtree.NodeDocument // but for the items
	keeper   func()               // tells a Runner to look after it; nil if nobody runs one: it goes with the last job
	busy     bool                 // somebody writes it
	session  coord.SessionID
	present  bool          // it was written in this session, as far as is known
	items    int           // that it tells; -1 if that, or something else in it, is to be written
	next     clocks.Moment // when it may be written again
	pause    time.Duration // after the next failure
}

func newAnnouncement(address string) *Announcement {
	var random [6]byte
	rand.Read(random[:]) // never fails
	return &Announcement{
		prefix:   jobtree.InstanceID(address, os.Getpid(), hex.EncodeToString(random[:])) + "-",
		document: jobtree.NodeDocument{Address: address},
	}
}

// ID returns the id of the process in a session; "" if it announces nothing.
func (a *Announcement) ID(session coord.SessionID) string {
	if a == nil || session == 0 {
		return ""
	}
	return a.prefix + strconv.FormatUint(uint64(session), 16)
}

// Offer has the node tell what a Runner offers, until the Runner ends. keeper is called when the last
// job has left: the node stays, and is the Runner's to write.
func (a *Announcement) Offer(offers, labels []string, keeper func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.document.Offers, a.document.Labels, a.keeper, a.items = offers, labels, keeper, -1
}

// Describe has the node tell the properties of a type, if it does not.
func (a *Announcement) Describe(properties []jobconf.Property) {
	if a == nil || len(properties) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.ContainsFunc(a.document.Described, func(p jobconf.Property) bool { return p.Type == properties[0].Type }) {
		a.document.Described, a.items = slices.Concat(a.document.Described, properties), -1
	}
}

// Announce has the node tell how many items the process has, if it does not. It returns after what time it is to be called again,
// because the node may not be written yet; 0 if that is not needed.
func (a *Announcement) Announce(session coord.Session, reg coord.Registry, items int, now clocks.Moment) (again time.Duration, err error) {
	write, again := a.due(session.ID(), items, now)
	if write == nil {
		return again, nil
	}
	_, err = reg.Commit(session.Context(), *write)
	a.wrote(err, now)
	if err != nil {
		return AnnounceEvery, err
	}
	return 0, nil
}

// due returns the operation that has the node tell how many items there are; nil if it
// does, or may not be written yet. Whoever gets an operation calls wrote.
func (a *Announcement) due(session coord.SessionID, items int, now clocks.Moment) (write *coord.Op, left time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session != session && !a.busy {
		a.session, a.present, a.items, a.next, a.pause = session, false, -1, clocks.Moment{}, 0
	}
	switch left = a.next.Sub(now); {
	case a.present && a.items == items:
		return nil, 0
	case a.busy:
		return nil, AnnounceEvery
	case left > 0:
		return nil, left
	}
	a.busy, a.items = true, items
	document := a.document
	document.Items = items
	op := coord.CreateEphemeral(jobtree.Node(a.ID(session)), jobtree.EncodeNode(document))
	if a.present {
		op = coord.Set(op.Path, op.Value)
	}
	return &op, 0
}

// wrote takes in what has become of the operation.
func (a *Announcement) wrote(err error, now clocks.Moment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = false
	if err == nil {
		a.present, a.pause, a.next = true, 0, now.Add(AnnounceEvery)
		return
	}
	// It may be there or not: an answer was lost, or somebody else has removed it.
	a.present, a.items = !a.present, -1
	a.pause = min(max(2*a.pause, AnnounceEvery), maxAnnouncePause)
	a.next = now.Add(a.pause)
}

// LastLeft says that the last job of the process has left. The node goes then, unless a Runner keeps it.
func (a *Announcement) LastLeft(session coord.Session, reg coord.Registry) {
	if a == nil || session == nil {
		return
	}
	a.mu.Lock()
	keeper := a.keeper
	a.mu.Unlock()
	if keeper != nil {
		keeper()
		return
	}
	a.Remove(session, reg)
}

// Remove removes the node. If that fails, it ends with the session.
func (a *Announcement) Remove(session coord.Session, reg coord.Registry) {
	a.mu.Lock()
	mine := a.present && !a.busy && a.session == session.ID()
	if mine {
		a.present, a.busy, a.items, a.next = false, true, -1, clocks.Moment{}
	}
	a.mu.Unlock()
	if !mine {
		return
	}
	ctx, cancel := context.WithTimeout(session.Context(), removeTime)
	defer cancel()
	_, err := reg.Commit(ctx, coord.DeleteTree(jobtree.Node(a.ID(session.ID()))))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy, a.present = false, err != nil
}
