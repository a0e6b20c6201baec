package integration_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/elasticjob-go/elasticjob/integration/cluster"
)

// mishaps happen to workers at random: they are killed, stopped by a signal, or cut off.
type mishaps struct {
	*stage
	random *rand.Rand
	ill    map[string]func(*cluster.Worker) error // what ends that, by name
	lives  int                                    // how many workers there have been
	as     cluster.Options                        // of those that come
}

func newMishaps(s *stage, r *rand.Rand, lives int) *mishaps {
	return &mishaps{stage: s, random: r, ill: map[string]func(*cluster.Worker) error{}, lives: lives}
}

// any is some worker.
func (m *mishaps) any() *cluster.Worker { return m.Workers()[m.random.IntN(len(m.Workers()))] }

// strike lets something happen to a worker: 0 and 1 kill it, and another one comes; 2 stops it,
// and 3 breaks its links, until heal.
func (m *mishaps) strike(w *cluster.Worker, kind int) {
	m.Helper()
	switch {
	case kind < 2:
		m.must(w.Kill())
		_, err := m.Start(fmt.Sprint("w", 1+(m.lives-1)%8), m.as)
		m.must(err)
		m.lives++
	case m.ill[w.Name] != nil:
	case kind == 2:
		m.must(w.Pause())
		m.ill[w.Name] = (*cluster.Worker).Resume
	default:
		m.must(w.Break([]string{cluster.CutOff, cluster.BlackHole, cluster.DropAnswers, cluster.DropRequests}[m.random.IntN(4)]))
		m.ill[w.Name] = func(w *cluster.Worker) error { w.Mend(); return nil }
	}
}

// heal ends what can be ended.
func (m *mishaps) heal() {
	m.Helper()
	for _, w := range m.Workers() {
		if undo := m.ill[w.Name]; undo != nil {
			m.must(undo(w))
		}
	}
	clear(m.ill)
}
