package access

import (
	"net/netip"
	"sync"
	"time"
)

// floods bounds how many refused log-ins of an address are told one by one: 20, and 20 in each minute after that. The
// others are counted. Else who is refused all the time could push everything else out of the trail.
type floods struct {
	mu  sync.Mutex
	all map[netip.Prefix]*flood
}

type flood struct {
	bucket
	more int
}

var untold = policy{free: 20, falls: 3 * time.Second}

func newFloods() *floods { return &floods{all: map[netip.Prefix]*flood{}} }

// next reports whether the next one is told, and how many were not since the last one that was.
func (f *floods) next(from netip.Addr) (more int, isTold bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, net := time.Now(), network(from)
	b := f.all[net]
	if b == nil {
		if len(f.all) >= maxBuckets {
			drop(f.all, func(b *flood) time.Time { return b.at })
		}
		b = &flood{bucket: bucket{at: now}}
		f.all[net] = b
	}
	if b.fall(untold, now); b.level+1 > untold.free {
		b.more++
		return 0, false
	}
	b.level++
	more, b.more = b.more, 0
	return more, true
}
