package jobtree

import (
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Debris is a node below one that has no children: below running, say, or below an
// instance. Only external writers write such nodes. They have to go: a store may refuse to remove
// a node that has a child, and a node that was removed counts as there while it has one.
type Debris struct {
	coord.Node
}

// maxDebris bounds how much debris a State lists. The rest is listed once that is gone.
const maxDebris = 100

// isBelowChildless reports whether a path below leader is below a node that has no children.
func isBelowChildless(path string) bool {
	for _, childless := range [...]string{leaderInstance, necessary, processing} {
		if path != childless && coord.Within(path, childless) {
			return true
		}
	}
	item, waits := strings.CutPrefix(path, failoverItems+"/")
	return waits && strings.Contains(item, "/")
}

// addDebris lists a node, unless one above it is listed already. It only counts a node whose
// path coord does not allow, because no request could remove that.
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
