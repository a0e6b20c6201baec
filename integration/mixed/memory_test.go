package mixed

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
)

// simulated is a store in virtual time.
type simulated struct{ store *memory.Store }

func newSimulated(seed uint64) simulated {
	return simulated{memory.NewStore(memory.Options{Seed: seed + 1})}
}

func (s simulated) dial(name string, session time.Duration, random *rand.Rand) (coord.Registry, link, error) {
	registry, err := s.store.Dial(context.Background(), memory.Config{Namespace: namespace, Name: name, SessionTimeout: session})
	if err != nil {
		return nil, nil, err
	}
	if random != nil {
		registry.Link().Lag(latency(random))
		if name[0] != 'j' {
			registry.Link().Delay(latency(random) / 2) // JVM members have steps instead
		}
	}
	return registry, registry.Link(), nil
}

func (s simulated) isSimulated() bool { return true }

func (s simulated) end() { s.store.Close() }
