package access

import (
	"net/netip"
	"sync"
	"time"
)

// floods bounds how many log-ins and log-outs of a user are told one by one, and how many refused log-ins of an address: of
// each kind 20, and 20 in each minute after that. The others are counted. Else who logs in all the time would fill the
// trail, and what it is sent to.
type floods struct {
	mu  sync.Mutex
	all map[source]*flood
}

// source is what events have in common that are counted together.
type source struct {
	kind Kind
	by   string // empty for what was refused
	from netip.Prefix
}

type flood struct {
	bucket
	more   int   // that were counted, and not told
	latest Event // of these
}

var untold = policy{free: 20, falls: 3 * time.Second}

func newFloods() *floods { return &floods{all: map[source]*flood{}} }

// next reports whether an event is told, and how many like it were not since the last one that was.
func (f *floods) next(e Event, from netip.Addr) (more int, isTold bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, of := time.Now(), source{e.Kind, e.By, network(from)}
	b := f.all[of]
	if b == nil {
		if len(f.all) >= maxBuckets {
			drop(f.all, func(b *flood) time.Time { return b.at })
		}
		b = &flood{bucket: bucket{at: now}}
		f.all[of] = b
	}
	if b.fall(untold, now); b.level+1 > untold.free {
		b.more++
		b.latest = e
		return 0, false
	}
	b.level++
	more, b.more = b.more, 0
	return more, true
}

// rest returns an event for each source of which some are counted that none has told: the latest one, with the number of
// the others.
func (f *floods) rest() (events []Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.all {
		if b.more > 0 {
			b.latest.More, b.more = b.more-1, 0
			events = append(events, b.latest)
		}
	}
	return events
}
