package jobtree

import (
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Debris is a node that nobody of ours writes, below one that has no children by its
// nature: below the record of a run, say, or below an instance. A store does not let such
// a parent be removed alone, and takes it for being there as long as it has a child.
type Debris struct {
	coord.Node
}

// maxDebris bounds how much debris a State lists. What is more shows once the first is
// gone.
const maxDebris = 100

// barren are the rooms whose children have no children: what is deeper is debris.
var barren = [...]string{instances + "/", sessions + "/", faults + "/", trigger + "/", failoverItems + "/"}

// barrenNodes have no children themselves.
var barrenNodes = [...]string{leaderInstance + "/", necessary + "/", processing + "/"}

// isDebris reports whether a path below the job's root, outside of sharding, is debris.
func isDebris(path string) bool {
	for _, room := range barren {
		if rest, ok := strings.CutPrefix(path, room); ok {
			return strings.Contains(rest, "/")
		}
	}
	for _, node := range barrenNodes {
		if strings.HasPrefix(path, node) {
			return true
		}
	}
	return false
}

// addDebris lists a node, unless one above it is listed. What has a name that no request
// could name is listed apart: it cannot be removed by it.
func (r *reader) addDebris(n coord.Node) {
	if coord.ValidatePath(n.Path) != nil {
		r.addUnusable(n.Path)
		return
	}
	if last := len(r.Debris) - 1; last >= 0 && coord.Within(n.Path, r.Debris[last].Path) {
		return
	}
	if len(r.Debris) < maxDebris {
		r.Debris = append(r.Debris, Debris{n})
	}
}

// addUnusable counts a node whose path coord does not allow.
func (r *reader) addUnusable(path string) {
	if r.UnusableNodes++; r.UnusableNodes == 1 {
		r.Unusable = brief.Text(path)
	}
}
