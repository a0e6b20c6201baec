package runner

import (
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Offers are the names of what the process has the work for.
type Offers struct{ Handlers, Types map[string]bool }

// listing is what the namespace shows of a job, as far as it concerns a Runner.
type listing struct {
	life  int64  // the commit that created the configuration; 0 if there is none
	offer string // what the Runner offers for it; empty if that is nothing
	// When the job's node and the configuration were written.
	root, config int64
}

// isServed reports whether there is a job that the Runner is to serve.
func (s listing) isServed() bool { return s.life != 0 && s.offer != "" }

// jobAt returns the job whose node or configuration has the path; "" if it is another node.
func jobAt(path string) string {
	name, below, _ := strings.Cut(path, "/")
	job := jobtree.Job(name)
	if below != "" && path != job.Config() || !jobtree.IsName(name) {
		return ""
	}
	return name
}

// Bounds are those of the view of the namespace: the jobs' nodes and their configurations are all that is read of it.
func Bounds() coord.Bounds {
	return coord.Bounds{Group: jobtree.Group, Value: func(path string) int {
		if jobAt(path) == "" {
			return 0
		}
		return jobtree.MaxSize(path)
	}}
}

// listingOf returns what a snapshot of the namespace shows of a job.
func (o Offers) listingOf(snapshot coord.Snapshot, name string) listing {
	job := jobtree.Job(name)
	config, isThere := snapshot.Get(job.Config())
	if !isThere || config.Created == 0 {
		return listing{}
	}
	root, _ := snapshot.Get(job.Root())
	return listing{life: config.Created, offer: o.For(name, string(root.Value), config.Value), root: root.Modified, config: config.Modified}
}

// For returns what is offered for a job: by the value of the job's node or, if that
// is empty, as elastic-job 2.1 leaves it, by its type SCRIPT, or a handler of the job's own name.
// The start looks again, and more closely (options.checkImplementation).
func (o Offers) For(name, node string, document []byte) string {
	offer := node
	if offer == "" {
		offer = name
		if jobconf.OldType(document) == "SCRIPT" {
			offer = "SCRIPT"
		}
	}
	if o.Handlers[offer] || o.Types[offer] && (node != "" || offer == "SCRIPT") {
		return offer
	}
	return ""
}
