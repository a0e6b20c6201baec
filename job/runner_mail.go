package job

import (
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
)

// mailbox has what others tell the loop of a Runner. Whoever tells something does not wait.
type mailbox struct {
	wake chan struct{} // has a signal if there may be a letter

	mu    sync.Mutex
	inbox letters
}

// letters are what was told since the loop has read last.
type letters struct {
	names   []string      // jobs that are to be looked at
	answers []answered    // errands that are done
	stuck   []*errand     // starts that hang; they may be done by now
	session coord.Session // the one that has begun; nil if none has
}

// write changes what the loop reads next, and wakes it.
func (m *mailbox) write(change func(*letters)) {
	m.mu.Lock()
	change(&m.inbox)
	m.mu.Unlock()
	signalTo(m.wake)
}

// lookAt tells the loop to look at a job.
func (m *mailbox) lookAt(name string) { m.write(func(l *letters) { l.names = append(l.names, name) }) }

// read takes all letters.
func (m *mailbox) read() letters {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.inbox
	m.inbox = letters{}
	return all
}

// signalTo leaves a signal, unless there is one.
func signalTo(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
