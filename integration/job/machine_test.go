package job_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/sleep"
)

// machine is where a test on a real store runs. It may stand still, because its host gives the CPUs to
// others: then what was to happen soon happens late, and what comes each second is missed.
type machine struct {
	mu   sync.Mutex
	last time.Time     // when this process looked at the time
	lost time.Duration // how long it got none before
}

// watchMachine looks at the time until the end of a test.
func watchMachine(t *testing.T) *machine {
	m := &machine{last: time.Now()}
	ctx, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		for sleep.For(ctx, 10*time.Millisecond) {
			m.look()
		}
	})
	t.Cleanup(func() { stop(); watching.Wait() })
	return m
}

func (m *machine) look() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if since := now.Sub(m.last); since > 50*time.Millisecond {
		m.lost += since
	}
	m.last = now
	return m.lost
}

// stoodStill reports whether the machine of a test has stood still for so long altogether. On the
// simulator no time passes meanwhile.
func (m *machine) stoodStill(d time.Duration) bool { return m.look() >= d }
