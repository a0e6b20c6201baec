package zk

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
)

// At most gapsAtOnce nodes that could not be read are tried again about twice a minute. While there
// are at most fewGaps, each is also tried whenever the list of its parent's children is read.
const (
	gapInterval = 30 * time.Second
	gapsAtOnce  = 256
	fewGaps     = 64
	never       = 24 * time.Hour // how long to wait if there is nothing to wait for
)

// gaps holds the nodes that a view leaves out, with everything below them, because they cannot be
// read. No watch tells when that changes. The zero value is empty.
type gaps struct {
	reasons map[string]error // by path
	changed bool             // since it was last set to false
	again   time.Time        // when to try them again
}

func (g *gaps) add(path string, reason error) {
	if g.reasons == nil {
		g.reasons = make(map[string]error)
	}
	if len(g.reasons) == 0 {
		g.schedule()
	}
	if _, known := g.reasons[path]; !known {
		g.reasons[path] = reason
		g.changed = true
	}
}

func (g *gaps) remove(path string) {
	if _, ok := g.reasons[path]; ok {
		delete(g.reasons, path)
		g.changed = true
	}
}

// removeTree removes the gaps at and below a path.
func (g *gaps) removeTree(root string) {
	for path := range g.reasons {
		if coord.Within(path, root) {
			g.remove(path)
		}
	}
}

// removeAbsent removes the gaps among the children of a node that do not exist any more.
func (g *gaps) removeAbsent(parent string, there map[string]bool) {
	for path := range g.reasons {
		if coord.Parent(path) == parent && !there[coord.Base(path)] {
			g.remove(path)
		}
	}
}

// covers reports whether a node lies below one that is left out.
func (g *gaps) covers(path string) bool {
	if len(g.reasons) == 0 {
		return false
	}
	for path != "" {
		path = coord.Parent(path)
		if _, ok := g.reasons[path]; ok {
			return true
		}
	}
	return false
}

// isDeferred reports whether a node is a gap that is tried again only when due, because there are
// too many.
func (g *gaps) isDeferred(path string) bool {
	_, ok := g.reasons[path]
	return ok && len(g.reasons) > fewGaps
}

// fault returns one error for all gaps, or nil if there is none.
func (g *gaps) fault() error {
	if len(g.reasons) == 0 {
		return nil
	}
	first := slices.Min(slices.Collect(maps.Keys(g.reasons)))
	return &gapError{count: len(g.reasons), reason: g.reasons[first]}
}

// schedule sets the time of the next attempt.
func (g *gaps) schedule() {
	g.again = time.Now().Add(gapInterval*3/4 + rand.N(gapInterval/2))
}

// wait returns how long it takes until the next attempt.
func (g *gaps) wait() time.Duration {
	if len(g.reasons) == 0 {
		return never
	}
	return max(0, time.Until(g.again))
}

// due returns the gaps that are to be tried again now.
func (g *gaps) due() []string {
	if g.wait() > 0 {
		return nil
	}
	g.schedule()
	var paths []string
	for path := range g.reasons { // in random order
		if paths = append(paths, path); len(paths) == gapsAtOnce {
			break
		}
	}
	return paths
}

// gapError says what a view leaves out.
type gapError struct {
	count  int
	reason error // of one of them, with its path
}

func (e *gapError) Error() string {
	const longest = 300 // the path comes from the store and may be long
	reason := e.reason.Error()
	if len(reason) > longest {
		reason = strings.ToValidUTF8(reason[:longest], "") + "…"
	}
	return fmt.Sprintf("nodes left out: %d, such as %s", e.count, reason)
}

func (e *gapError) Unwrap() error { return e.reason }
