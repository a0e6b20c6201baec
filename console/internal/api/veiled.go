package api

import (
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// veiledPlan returns a plan as it is shown. It shares nothing that it changes.
func veiledPlan(p ops.Plan) ops.Plan {
	p.Before, p.After = veil.Document(p.Before), veil.Document(p.After)
	p.Changes = slices.Clone(p.Changes)
	for i, d := range p.Changes {
		p.Changes[i] = veiledDifference(d)
	}
	return p
}

func veiledDifference(d jobtype.Difference) jobtype.Difference {
	name := strings.TrimPrefix(d.Field, "props: ")
	d.Before, d.After = veil.Value(name, d.Before), veil.Value(name, d.After)
	return d
}

// veiledChange returns a change as it is shown.
func veiledChange(c ops.Change) ops.Change {
	c.Before, c.After = veil.Document(c.Before), veil.Document(c.After)
	return c
}
