package doctor

import (
	"fmt"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// readMark reads the mark of a job on its way. The job's note, if there is one, was read before.
func (ns *namespace) readMark(name string, n coord.Node) {
	ns.marks = append(ns.marks, n)
	if _, isNoted := ns.moving[name]; !isNoted {
		ns.moving[name] = jobtree.RemovalDocument{}
	}
}

// checkMigrations notes jobs on their way with which nobody goes on.
func (ns *namespace) checkMigrations(c *collector) {
	newest := int64(0)
	for _, n := range ns.marks {
		newest = max(newest, n.Modified)
	}
	for _, n := range ns.marks {
		name := coord.Base(n.Path)
		d, err := jobtree.DecodeMoving(n.Value)
		if err != nil {
			c.add(unreadable("", n, err))
			continue
		}
		cause := map[jobtree.Step]string{
			jobtree.Leaving:  "it has left this namespace, which has something left of it, and may have arrived at the other one",
			jobtree.Arriving: "it is expected here, and has not arrived",
			jobtree.Arrived:  "it has arrived here, and the other namespace may have something left of it",
		}[d.Step]
		note := ns.moving[name]
		if note.Why != "" {
			cause += fmt.Sprintf(": it %s (%s)", note.Why, brief.Quote(note.By))
		}
		c.add(symptom{mark: newest, Finding: Finding{
			Kind: MigrationOpen, Severity: Warning, Job: name, Path: n.Path, Since: note.At,
			Cause:  cause + ". No job of the migration has moved since the look before",
			Advice: "go on with the migration, or abort it; do not remove what is left of its jobs by hand",
		}})
	}
}
