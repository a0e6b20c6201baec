package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
)

// CheckTree looks for nodes that must be gone after all workers have left: instances, sessions,
// leaders, triggers, kills, runs, and items that wait to be taken over. Parents may stay, as
// ZooKeeper keeps them.
func CheckTree(tree coord.Snapshot) []Violation {
	var left []string
	for n := range tree.All("") {
		segments := strings.Split(n.Path, "/")[1:]
		if n.Ephemeral() || lively(segments) {
			left = append(left, n.Path)
		}
	}
	if len(left) == 0 {
		return nil
	}
	e := Now(Quiet)
	return []Violation{{Promise: 11, What: fmt.Sprintf("nodes are left: %s", strings.Join(left, ", ")), Events: []*Event{&e}}}
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
