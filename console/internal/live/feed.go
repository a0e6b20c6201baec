package live

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/ops"
)

// topic is what somebody listens to: a namespace, or one job of it.
type topic struct{ namespace, job string }

// feed is what is known of a topic, for all who listen to it.
type feed struct {
	topic topic
	seed  maphash.Seed // of the marks in ids: another feed has other ones

	cancel    context.CancelFunc
	listeners int         // guarded by Live.mu
	idle      *time.Timer // ends the feed when nobody listens; guarded by Live.mu

	mu        sync.Mutex // guards what follows
	changed   chan struct{}
	journal   journal
	isOpening bool // a watch is being opened
	isKnown   bool // the journal has a first state
	fault     fault
	opened    time.Time      // when the watch was opened last, or began to be
	ended     error          // why it has ended
	detail    []byte         // all of the topic's job
	listed    []*ops.JobInfo // all jobs by name, as somebody has asked for them; nil if that is to be made
}

// fault is why what is known may be incomplete or old. It is zero if it is neither.
type fault struct {
	why   string
	since time.Time // what is known may be old since then; zero if it is only incomplete
}

// goesOn returns a fault that follows another one: what may be old already is since that began.
func (f fault) goesOn(before fault) fault {
	if !before.since.IsZero() && before.since.Before(f.since) {
		f.since = before.since
	}
	return f
}

func newFeed(t topic, cancel context.CancelFunc) *feed {
	return &feed{topic: t, seed: maphash.MakeSeed(), cancel: cancel, changed: make(chan struct{}), journal: newJournal(), isOpening: true}
}

// update changes the feed, and wakes all listeners.
func (f *feed) update(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.changed)
	f.changed = make(chan struct{})
}

// doubt says why what is known may be old from now on, and that no watch is open.
func (f *feed) doubt(why string) {
	now := time.Now().Round(0)
	f.update(func() { f.fault, f.isOpening = fault{why, now}.goesOn(f.fault), false })
}

func (f *feed) end(err error) { f.update(func() { f.ended = err }) }

// opens says that a watch is opened now.
func (f *feed) opens() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.isOpening, f.opened = true, time.Now().Round(0)
}

// doubtOpening says why opening takes so long, if it still does.
func (f *feed) doubtOpening(why string) {
	f.update(func() {
		if f.isOpening {
			f.fault = fault{why, f.opened}.goesOn(f.fault)
		}
	})
}

// begun waits until something is known, or a time has passed. It returns why the feed has ended, if it has.
func (f *feed) begun(ctx context.Context, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		f.mu.Lock()
		ended, isKnown, changed := f.ended, f.isKnown || f.fault.why != "", f.changed
		f.mu.Unlock()
		if ended != nil || isKnown {
			return ended
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// maxPart is when an event is long enough, in bytes. Then the rest is another one. Each is compressed by itself, so small ones take more.
const maxPart = 256 << 10

// generalFault is told instead of a fault to who may not see all jobs: a fault names some.
const generalFault = "what is told may be incomplete or old"

// reader is where a listener has come to, and what he may see.
type reader struct {
	sees func(job string) bool // nil: all
	mark uint64                // of this feed, and what he sees
	at   uint64                // his place; 0 is at the beginning
	base uint64                // the removals up to this place are none that he has to know
	told fault                 // that he knows
	// patches: of one job he is told what has changed, not all of it.
	patches bool
}

// next appends what a reader is to be told next, if there is anything: then isLast says whether nothing follows.
// Else changed is closed when there may be.
func (f *feed) next(b []byte, r *reader, ids cursors) (out []byte, changed <-chan struct{}, isLast bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := r.mayKnow(f.fault); now.why != r.told.why || !now.since.Equal(r.told.since) {
		b = appendFault(b, now)
		r.told = now
	}
	if f.ended != nil {
		return appendEnd(b, f.ended), f.changed, true
	}
	switch {
	case !f.isKnown:
	case f.topic.job != "":
		b = f.detailPart(b, r, ids)
	default:
		b = f.part(b, r, ids)
	}
	return b, f.changed, false
}

func (r *reader) mayKnow(f fault) fault {
	if f.why != "" && r.sees != nil {
		f.why = generalFault
	}
	return f
}

// part appends the next jobs that have changed.
func (f *feed) part(b []byte, r *reader, ids cursors) []byte {
	isReset := r.at == 0 || r.at < f.journal.floor || r.at > f.journal.last
	if isReset {
		r.at, r.base = 0, f.journal.last
	}
	part, isMore := f.choose(r)
	if len(part) == 0 && !isReset {
		return b
	}
	event := eventUpdate
	if isReset {
		event = eventReset
	}
	return append(appendJobs(appendHead(b, event, ids, r), part, isMore), "\n\n"...)
}

// choose returns the entries that a reader is told next, and moves him behind them.
func (f *feed) choose(r *reader) (part []*entry, isMore bool) {
	size := 0
	for e := range f.journal.after(r.at) {
		if r.sees != nil && !r.sees(e.name) || e.json == nil && e.place <= r.base {
			continue
		}
		if size > maxPart {
			return part, true
		}
		part = append(part, e)
		size += len(e.json) + len(e.name)
		r.at = e.place
	}
	r.at = f.journal.last
	return part, false
}

// appendEnd appends the last event of a feed that has ended.
func appendEnd(b []byte, why error) []byte {
	code := codeClosing
	if isGone(why) {
		code = codeRemoved
	}
	return appendBye(b, code, brief.Error(why).Error())
}

// take takes in an update of the watch. The first of a watch has all jobs.
func (f *feed) take(u ops.Update, isFirst bool, write func(*ops.JobInfo) []byte) {
	texts := make([][]byte, len(u.Jobs))
	for i := range u.Jobs {
		texts[i] = write(&u.Jobs[i])
	}
	f.update(func() {
		f.isOpening, f.isKnown, f.listed = false, true, slices.Clone(f.listed) // who has the list keeps it
		f.fault = fault{u.Fault, u.FaultSince}
		for i := range u.Jobs {
			f.put(u.Jobs[i], texts[i])
		}
		for _, name := range u.Removed {
			f.journal.remove(name)
		}
		if isFirst {
			f.removeOthers(u.Jobs)
		}
		if isFirst || len(u.Removed) > 0 {
			f.listed = nil
		}
	})
}

func (f *feed) put(info ops.JobInfo, text []byte) {
	if before := f.journal.newest[info.Name]; before == nil || before.json == nil || *before.info != info {
		f.journal.put(info.Name, text, &info)
		if at, isThere := slices.BinarySearchFunc(f.listed, info.Name, byName); isThere {
			f.listed[at] = &info
		} else {
			f.listed = nil // it is made anew when somebody asks for it
		}
	}
}

func byName(i *ops.JobInfo, name string) int { return cmp.Compare(i.Name, name) }

// removeOthers removes all jobs but those.
func (f *feed) removeOthers(jobs []ops.JobInfo) {
	isThere := make(map[string]bool, len(jobs))
	for i := range jobs {
		isThere[jobs[i].Name] = true
	}
	var gone []string
	for name := range f.journal.newest {
		if !isThere[name] {
			gone = append(gone, name)
		}
	}
	for _, name := range gone {
		f.journal.remove(name)
	}
}
