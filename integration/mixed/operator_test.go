package mixed

import (
	"errors"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// commit writes what an operator writes by hand. A node that is to go may be gone.
func (c *cluster) commit(what string, ops ...coord.Op) {
	c.t.Helper()
	c.note("operator: %s", what)
	if _, err := c.admin.Commit(c.t.Context(), ops...); err != nil && !errors.Is(err, coord.ErrConflict) {
		c.t.Fatalf("seed %d: operator: %s: %v", c.seed, what, err)
	}
}

// disable disables the server of a process, and enable ends that, as ElasticJob's console does.
func (c *cluster) disable(p *process) {
	c.t.Helper()
	c.commit(p.name+" is disabled", coord.Put(tree.Server(p.ip), []byte(jobtree.Disabled)))
}

func (c *cluster) enable(p *process) {
	c.t.Helper()
	c.commit(p.name+" is enabled", coord.Put(tree.Server(p.ip), []byte(jobtree.Enabled)))
}

// configure replaces the configuration. Ticks are counted by it at once.
func (c *cluster) configure(s setting) {
	c.t.Helper()
	s = s.withDefaults()
	c.commit("configuration: "+s.cron, coord.Put(tree.Config(), s.document()))
	c.follow(s.cron)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total = s.total
}

// remove removes a node and all below it.
func (c *cluster) remove(path string) {
	c.t.Helper()
	c.commit("removes "+path, coord.DeleteTree(path))
}

// put writes a node that stays.
func (c *cluster) put(path, value string) {
	c.t.Helper()
	c.commit("writes "+path+" = "+value, coord.Put(path, []byte(value)))
}
