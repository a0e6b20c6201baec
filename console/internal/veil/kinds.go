package veil

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Dump returns a dump as it is shown. It shares nothing that it changes.
func Dump(d dump.Dump) dump.Dump {
	d.Config = Document(d.Config)
	d.Nodes = slices.Clone(d.Nodes)
	for i, n := range d.Nodes {
		if n.Path == d.Job+"/config" {
			d.Nodes[i].Value, d.Nodes[i].View = Document(n.Value), Document(n.View)
		}
	}
	return d
}

// Plan returns a plan as it is shown.
func Plan(p ops.Plan) ops.Plan {
	p.Before, p.After = Document(p.Before), Document(p.After)
	p.Changes = slices.Clone(p.Changes)
	for i, d := range p.Changes {
		p.Changes[i] = difference(d)
	}
	return p
}

func difference(d job.Difference) job.Difference {
	name := strings.TrimPrefix(d.Field, "props: ")
	d.Before, d.After = Value(name, d.Before), Value(name, d.After)
	return d
}

// Change returns a change as it is shown.
func Change(c ops.Change) ops.Change {
	c.Before, c.After = Document(c.Before), Document(c.After)
	return c
}
