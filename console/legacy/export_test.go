package legacy

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/ops"
)

// World is for tests against a whole console.
type World = world

func NewWorld(t *testing.T) *World { return newWorld(t) }

func (w *world) Book() *connection.Book { return w.book }
func (w *world) Prod() *ops.Ops         { return w.prod }
func (w *world) Ran(what string) int    { return w.ran(what) }

// Secrets are what the console has connected with: user and password.
func (w *world) Secrets() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.secrets
}

// AllRoutes are the routes without anything to work on.
func AllRoutes() []string {
	var all []string
	for _, o := range (&api{}).operations() {
		all = append(all, o.method+" "+o.pattern)
	}
	return all
}
