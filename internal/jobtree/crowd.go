package jobtree

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// How many nodes of a group are held.
const (
	maxCrowd = 20_000  // such as instances of a job, and what nobody knows
	maxMany  = 200_000 // where each item may have one: two times as many as a job has items
)

// crowd returns how many nodes of a kind are held together with those beside them; 0 if items bound them.
func (k *kind) crowd() int {
	switch {
	case strings.Contains(k.pattern, requests+"/") || strings.Contains(k.pattern, guarantee+"/"),
		k.pattern == Removals+"/{job}", k.pattern == AppliedJobs+"/{job}", k.pattern == Migrations+"/{job}":
		return maxMany
	case strings.Contains(k.pattern, "{item}") && !strings.HasSuffix(k.pattern, "{unknown}"), !strings.Contains(strings.TrimPrefix(k.pattern, "{job}"), "{"):
		return 0
	}
	return maxCrowd
}

// Group is that of [coord.Bounds]: what stands below a list of a job is a group, and what nobody knows is another one.
func Group(path string) (group string, most int) {
	k, _, isBelow := namespaceKinds.find(path)
	if k == nil || isBelow {
		return firstParts(path, 1), maxCrowd
	}
	if most = k.crowd(); most == 0 {
		return "", 0
	}
	return firstParts(path, 2), most
}

// firstParts returns the beginning of a path.
func firstParts(path string, n int) string {
	for i := range len(path) {
		if path[i] == '/' {
			if n--; n == 0 {
				return path[:i]
			}
		}
	}
	return path
}

// leftOut returns the groups of a job of which nodes are not held.
func leftOut(snapshot coord.Snapshot, job Job) (groups map[string]int) {
	for group, nodes := range snapshot.LeftOut() {
		if coord.Within(group, string(job)) {
			put(&groups, group, nodes, true)
		}
	}
	return groups
}

// Excess says what of a job is not read, because it is too much; empty if all is.
func (s *State) Excess() string {
	if len(s.LeftOut) > 0 {
		group := slices.Min(slices.Collect(maps.Keys(s.LeftOut)))
		return fmt.Sprintf("there are too many nodes below %s: %d of them are not read", brief.Text(group), s.LeftOut[group])
	}
	if len(s.TooLarge) > 0 {
		path := slices.Min(slices.Collect(maps.Keys(s.TooLarge)))
		return fmt.Sprintf("%d nodes are too large to be read, such as %s with %d bytes", len(s.TooLarge), brief.Text(path), s.TooLarge[path])
	}
	return ""
}
