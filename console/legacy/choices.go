package legacy

import (
	"slices"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
)

// Bounds of what is kept of callers.
const (
	maxChoices = 10_000
	// choiceLife is how long a choice is kept after its last use: as long as a session lives, by default.
	choiceLife = 12 * time.Hour
)

// choice is what a caller has activated, by name.
type choice struct{ center, source string }

// choices have what callers have activated, by access.Principal.Key. What was not used for long is
// forgotten.
type choices struct {
	now func() time.Time

	mu    sync.Mutex
	byKey map[string]kept
}

type kept struct {
	choice
	used time.Time
}

func newChoices(now func() time.Time) *choices { return &choices{now: now, byKey: map[string]kept{}} }

// of returns what a caller has activated.
func (c *choices) of(p *access.Principal) choice {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.byKey[p.Key]
	now := c.now()
	if !ok || now.Sub(k.used) > choiceLife {
		delete(c.byKey, p.Key)
		return choice{}
	}
	k.used = now
	c.byKey[p.Key] = k
	return k.choice
}

// set keeps what a caller activates.
func (c *choices) set(p *access.Principal, change func(*choice)) {
	next := c.of(p)
	change(&next)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.byKey[p.Key]; !there && len(c.byKey) >= maxChoices {
		c.forget()
	}
	c.byKey[p.Key] = kept{next, c.now()}
}

// forget drops what is too old, and if that is nothing what was used longest ago.
func (c *choices) forget() {
	now := c.now()
	oldest := ""
	for key, k := range c.byKey {
		if now.Sub(k.used) > choiceLife {
			delete(c.byKey, key)
		} else if oldest == "" || k.used.Before(c.byKey[oldest].used) {
			oldest = key
		}
	}
	if len(c.byKey) >= maxChoices {
		delete(c.byKey, oldest)
	}
}

// centers returns the centres that a caller may see.
func (a *api) centers(p *access.Principal) []connection.Namespace {
	return slices.DeleteFunc(a.Connections.Namespaces(), func(n connection.Namespace) bool { return !p.MaySome(access.Viewer, n.Name) })
}

// center returns the centre that is activated: the caller's choice, or the only one that he may see.
func (a *api) center(p *access.Principal) (connection.Namespace, bool) {
	seen := a.centers(p)
	chosen := a.choices.of(p).center
	for _, c := range seen {
		if c.Name == chosen || len(seen) == 1 {
			return c, true
		}
	}
	return connection.Namespace{}, false
}

// sources returns the data sources that a caller may see: those of centres that he may see.
func (a *api) sources(p *access.Principal) []connection.Database {
	return slices.DeleteFunc(a.Connections.Databases(), func(d connection.Database) bool {
		_, may := a.seesBy(p, d.Name, "")
		return !may && !p.MayEverywhere(access.Viewer)
	})
}

// seesBy returns a centre by which a caller may see a source: the first one, if it is among them.
func (a *api) seesBy(p *access.Principal, source, first string) (center string, may bool) {
	for _, name := range a.Connections.NamespacesOf(source) {
		if p.MaySome(access.Viewer, name) && (!may || name == first) {
			center, may = name, true
		}
	}
	return center, may
}

// source returns the data source that is activated: the caller's choice, or that of his centre, or the
// only one that he may see.
func (a *api) source(p *access.Principal) (name string, ok bool) {
	seen := a.sources(p)
	center, _ := a.center(p) // without one it has no source
	for _, name := range []string{a.choices.of(p).source, center.Database} {
		if slices.ContainsFunc(seen, func(d connection.Database) bool { return d.Name == name }) {
			return name, true
		}
	}
	if len(seen) == 1 {
		return seen[0].Name, true
	}
	return "", false
}
