package migrate

import (
	"bytes"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// cargo is what of a job goes to the target. It is a function of the job's tree.
type cargo struct {
	job jobtree.Job
	// implementation and config are the values of the job's node and of its configuration. The
	// configuration comes last: with it the job is there.
	implementation, config []byte
	settings               jobtype.Config
	// nodes are the values of all others, by path.
	nodes map[string][]byte

	instances   []string // that run the job at the source, ascending
	items       int      // in the tree
	isConverted bool     // the configuration is that of elastic-job 2.1
	isJVM       bool     // JVM programs have run it
	onJVM       string   // an item that a live JVM program runs, and which; empty if there is none
	token       int64    // the newest fencing token
	findings    []Finding
}

// maxNode bounds a path and its value together: the commit that writes it has a condition, too.
const maxNode = coord.MaxCommitBytes - 4<<10

// pack finds what of a job goes. The tree is that of the source, with the configuration; pack
// changes it.
func pack(name jobtree.Job, tree *coord.Tree, now time.Time) *cargo {
	c := &cargo{job: name, nodes: map[string][]byte{}}
	document, _ := tree.Get(name.Config())
	root, _ := tree.Get(name.Root())
	if !jobtree.IsName(string(name)) {
		c.refuse("no job can have this name: 1 to %d letters, digits and . _ - : are allowed", jobtree.MaxNameLength)
		return c
	}
	settings, err := jobtype.DecodeConfig(document.Value)
	switch {
	case err != nil:
		c.refuse("its configuration is refused: %v", brief.Error(err))
		return c
	case settings.Name != string(name):
		c.refuse("its configuration is that of job %s", brief.Quote(settings.Name))
		return c
	}
	c.settings, c.config, c.implementation = settings, document.Value, root.Value
	if err := c.convert(); err != nil {
		c.refuse("its configuration cannot be converted: %v", brief.Error(err))
		return c
	}
	if len(c.implementation) > maxImplementation || !utf8.Valid(c.implementation) {
		c.refuse("implementation %s: UTF-8 of up to %d bytes is allowed", brief.Quote(string(c.implementation)), maxImplementation)
	}
	c.look(tree.Snapshot(), jobtree.Read(tree.Snapshot(), name))
	c.load(tree, settle(tree, name, settings, now))
	for path, value := range c.nodes {
		if len(path)+len(value) > maxNode {
			c.refuse("%s has %d bytes, at most %d are allowed", brief.Quote(path), len(value), maxNode-len(path))
		}
	}
	return c
}

// maxImplementation is the bound of job.WithImplementation.
const maxImplementation = 1_000

// convert makes a document of 3.x of one of 2.1, which has the implementation, too.
func (c *cargo) convert() (err error) {
	if !bytes.HasPrefix(bytes.TrimSpace(c.config), []byte("{")) {
		return nil
	}
	work := jobconf.OldWork(c.config)
	if c.config, err = c.settings.Encode(c.config); err != nil {
		return err
	}
	if len(c.implementation) == 0 {
		c.implementation = []byte(work)
	}
	c.isConverted = true
	return nil
}

// load collects the nodes that go: what operators have asked for, and what the promises about
// ticks rest on. What instances write anew is left out: owners, leaders, faults, marks of runs.
func (c *cargo) load(tree *coord.Tree, s *jobtree.State) {
	c.items = len(s.Items)
	if s.Schedule != nil && s.Schedule.Err == nil {
		c.add(s.Schedule.Node)
	}
	if s.IsDisabled {
		c.add(coord.Node{Path: c.job.Disabled()})
	}
	for _, server := range s.Servers {
		// The others are as they would be if they registered for the first time.
		if server.Enabled == c.settings.Disabled {
			c.add(server.Node)
		}
	}
	for i := range s.Items {
		c.loadItem(tree, i, &s.Items[i])
	}
	for _, f := range s.FailoverItems {
		if c.settings.Failover {
			c.add(f.Node)
		}
	}
	for _, pin := range s.Pins {
		c.add(pin.Node)
	}
	if s.RequestCount != nil && len(s.RequestCount.Value) > 0 {
		c.add(*s.RequestCount)
	}
	for _, r := range s.Requests {
		if r.Err != nil || !r.Ended.IsZero() {
			continue
		}
		c.add(r.Node)
		for _, i := range r.Items {
			if p := r.Progress(i); p != nil {
				c.add(p.Node)
			}
		}
	}
	if s.Guaranteed != nil && len(s.Guaranteed.Value) > 0 {
		c.add(s.Guaranteed.Node)
	}
	for _, g := range s.Guarantees {
		c.loadTick(g)
	}
}

func (c *cargo) loadItem(tree *coord.Tree, i int, item *jobtree.Item) {
	if item.Fired != nil {
		c.add(item.Fired.Node)
	}
	if item.Completed != nil {
		c.add(item.Completed.Node)
	}
	if item.Original != nil {
		c.add(item.Original.Node)
	}
	for _, path := range []string{c.job.Misfire(i), c.job.ItemDisabled(i)} {
		if n, isThere := tree.Get(path); isThere {
			c.add(n)
		}
	}
	if n, isThere := tree.Get(c.job.Cursor(i)); isThere && n.Owner == 0 {
		n.Value = anonymous(n.Value)
		c.add(n)
	}
}

// anonymous is a cursor that no execution has written: the tokens of the target are other ones, and
// an execution there that has the same one would take this cursor for its own.
func anonymous(value []byte) []byte {
	d, err := jobtree.DecodeCursor(value)
	if err != nil {
		return value // the handler is told so, there as here
	}
	d.Token, d.Number = 0, 0
	if text, err := jobtree.EncodeCursor(d); err == nil {
		return text
	}
	return value
}

// loadTick collects the nodes of a tick that once-listeners are told of. Those who were to be told
// have ended; the coordinator of the target goes on with it.
func (c *cargo) loadTick(g *jobtree.Guarantee) {
	if g.Err != nil {
		return
	}
	c.add(g.Node)
	if g.IsOpen {
		c.nodes[c.job.GuaranteeOpen(g.Tick)] = nil
	}
	for i, outcome := range g.Outcomes {
		c.nodes[c.job.GuaranteeItem(g.Tick, i)] = []byte(outcome)
	}
}

// add adds a node, unless it goes with a session.
func (c *cargo) add(n coord.Node) {
	if n.Owner == 0 && n.Path != "" {
		c.nodes[n.Path] = n.Value
	}
}

func (c *cargo) refuse(format string, args ...any) { c.find(Refused, format, args...) }

func (c *cargo) find(severity Severity, format string, args ...any) {
	c.findings = append(c.findings, Finding{Severity: severity, Job: string(c.job), Cause: fmt.Sprintf(format, args...)})
}

// refused returns why the job cannot go; nil if it can.
func (c *cargo) refused() error {
	for _, f := range c.findings {
		if f.Severity == Refused {
			return fmt.Errorf("%w: %s", ErrRefused, f.Cause)
		}
	}
	return nil
}
