package doctor

import (
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// migrations are the marks of migrations.
type migrations []*migration

type migration struct {
	coord.Node
	jobs   []string
	newest int64 // when the mark, or a node below it, was written last
}

// read takes a node: a mark, by its name, or that of a job below a mark that came before.
func (m *migrations) read(name string, n coord.Node) {
	id, job, isJob := strings.Cut(name, "/")
	if !isJob {
		*m = append(*m, &migration{Node: n, newest: n.Modified})
		return
	}
	for _, open := range *m {
		if open.Path == jobtree.Migration(id) {
			open.jobs, open.newest = append(open.jobs, job), max(open.newest, n.Modified)
		}
	}
}

// check notes migrations that nobody goes on with, and which jobs are on their way.
func (m migrations) check(ns *namespace, c *collector) {
	for _, open := range m {
		for _, job := range open.jobs {
			ns.moving[job] = true
		}
		d, err := jobtree.DecodeMigration(open.Value)
		if err != nil {
			c.add(unreadable("", open.Node, err))
			continue
		}
		f := Finding{
			Kind: MigrationOpen, Severity: Warning, Path: open.Path, Since: d.At,
			Cause:  fmt.Sprintf("%s moves %d jobs from %s to %s, and nothing has moved since the look before", brief.Quote(d.By), d.Jobs, brief.Quote(d.From), brief.Quote(d.To)),
			Advice: "go on with the migration, or abort it; do not remove what is left of its jobs by hand",
		}
		if d.IsKept {
			f.Severity = Info
			f.Cause = fmt.Sprintf("%s has moved %d jobs from %s to %s, and the source keeps what it has of them", brief.Quote(d.By), d.Jobs, brief.Quote(d.From), brief.Quote(d.To))
			f.Advice = "nothing, as long as the way back is to stay open; then clear the source"
		}
		c.add(symptom{mark: open.newest, Finding: f})
	}
}
