package runner

import (
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
)

// inbox has what others tell the loop of a Runner. Whoever tells something does not wait.
type inbox struct {
	wake chan struct{} // has a signal if there may be news

	mu    sync.Mutex
	inbox news
}

// news are what was told since the loop has read last.
type news struct {
	names   []string      // jobs that are to be looked at
	answers []result      // tasks that are done
	stuck   []*task       // starts that hang; they may be done by now
	session coord.Session // the one that has begun; nil if none has
}

// write changes what the loop reads next, and wakes it.
func (m *inbox) write(change func(*news)) {
	m.mu.Lock()
	change(&m.inbox)
	m.mu.Unlock()
	Signal(m.wake)
}

// lookAt tells the loop to look at a job.
func (m *inbox) lookAt(name string) { m.write(func(n *news) { n.names = append(n.names, name) }) }

// read takes all news.
func (m *inbox) read() news {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.inbox
	m.inbox = news{}
	return all
}

// Signal leaves a signal, unless there is one.
func Signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
