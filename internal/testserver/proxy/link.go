package proxy

import (
	"net"
	"sync"
	"time"
)

// link is a connection of a client, and the connection to the server that belongs to it.
type link struct {
	proxy *Proxy
	ends  [2]*net.TCPConn // requests are read from the first and written to the second
	once  sync.Once
	done  chan struct{} // closed with the link

	// Guarded by proxy.mu.
	torn     [2]bool // bytes of this direction were dropped
	stranded bool    // see Proxy.Strand
}

// piece is a part of a stream, or its end.
type piece struct {
	data []byte
	end  bool
	at   time.Time // when it was read
}

// close resets both connections. Bytes that are under way are lost.
func (l *link) close() {
	l.once.Do(func() {
		close(l.done)
		for _, c := range l.ends {
			if c != nil {
				_ = c.SetLinger(0)
				_ = c.Close()
			}
		}
	})
}

// garbledLocked reports whether bytes would be delivered although some before them were
// dropped.
func (l *link) garbledLocked() bool {
	for d, torn := range l.torn {
		if torn && l.modeLocked(direction(d)) != drop {
			return true
		}
	}
	return false
}

func (l *link) modeLocked(d direction) mode {
	if l.stranded {
		return drop
	}
	return l.proxy.modes[d]
}

func (l *link) read(d direction, pieces chan<- piece) {
	defer close(pieces)
	for {
		data := make([]byte, 16<<10)
		n, err := l.ends[d].Read(data)
		for _, p := range []piece{{data: data[:n], at: time.Now()}, {end: true, at: time.Now()}} {
			if p.end && err == nil || !p.end && n == 0 {
				continue
			}
			select {
			case pieces <- p:
			case <-l.done:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *link) write(d direction, pieces <-chan piece) {
	to := l.ends[1-d]
	for p := range pieces {
		if !l.await(d, p) {
			continue
		}
		if p.end {
			_ = to.CloseWrite()
			continue
		}
		if _, err := to.Write(p.data); err != nil {
			l.close()
			continue
		}
		l.proxy.mu.Lock()
		l.proxy.bytes[d] += int64(len(p.data))
		l.proxy.mu.Unlock()
	}
}

// await waits until a piece is due, and reports whether it is to be delivered.
func (l *link) await(d direction, p piece) bool {
	for {
		l.proxy.mu.Lock()
		mode, changed := l.modeLocked(d), l.proxy.changed
		late := time.Duration(0)
		if d == answers {
			late = time.Until(p.at.Add(l.proxy.delay))
		}
		if mode == drop {
			l.torn[d] = true
		}
		l.proxy.mu.Unlock()

		var due <-chan time.Time
		switch {
		case mode == drop && !p.end:
			return false
		case mode == pass && late <= 0:
			return true
		case mode == pass:
			due = time.After(late)
		}
		// The piece is held back; or it is the end of a stream that is dropped. That end
		// must not show before the fault is over, which closes the link.
		select {
		case <-due:
		case <-changed:
		case <-l.done:
			return false
		}
	}
}
