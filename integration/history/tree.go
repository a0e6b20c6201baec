package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// CheckTree looks for nodes that must be gone after all workers have left: instances, sessions,
// leaders, triggers, kills, runs, items that wait to be taken over, and all of jobs that were
// removed. Parents of what is a job may stay, as ZooKeeper keeps them.
func CheckTree(tree coord.Snapshot) []Violation {
	var left, removed []string
	for n := range tree.All("") {
		segments := strings.Split(n.Path, "/")
		switch job := jobtree.Job(segments[0]); {
		case n.Ephemeral() || lively(segments[1:]):
			left = append(left, n.Path)
		case tree.Exists(job.Removal()) && !tree.Exists(job.Config()):
			removed = append(removed, n.Path)
		}
	}
	e := Now(Quiet)
	var list []Violation
	if len(left) > 0 {
		list = append(list, Violation{Promise: 11, What: fmt.Sprintf("nodes are left: %s", strings.Join(left, ", ")), Events: []*Event{&e}})
	}
	if len(removed) > 0 {
		list = append(list, Violation{Promise: 25, What: fmt.Sprintf("nodes of jobs that were removed are left: %s", strings.Join(removed, ", ")), Events: []*Event{&e}})
	}
	return list
}

func lively(path []string) bool {
	if len(path) == 2 && slices.Contains([]string{"instances", "sessions", "trigger", "guarantee", "kill"}, path[0]) {
		return true
	}
	if len(path) == 3 && path[0] == "sharding" {
		return slices.Contains([]string{"running", "failover", "failovering"}, path[2])
	}
	if len(path) == 3 && path[0] == "leader" && path[1] == "election" {
		return path[2] == "instance"
	}
	return len(path) == 4 && path[0] == "leader" && (path[2] == "latch" || path[1] == "failover" && path[2] == "items")
}
