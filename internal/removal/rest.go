package removal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Bounds of what goes at once, in bytes of paths. ZooKeeper removes a tree node by node, and takes
// 1 MiB in one request.
const (
	maxCommit = 256 << 10
	maxPart   = 16 << 10
	perNode   = 100 // what a node costs beside its path
)

// rounds bounds how often Rest looks again because something is left.
const rounds = 20

// ErrConfigured: the job has a configuration, so nothing of it is a rest.
var ErrConfigured = errors.New("the job has been created again")

// Rest removes what is left of a job without a configuration. It reports whether anything was. Each part
// goes on the given conditions, too.
//
// Errors: ErrConfigured; those of a walk and of a commit.
func Rest(ctx context.Context, reg coord.Registry, job jobtree.Job, conditions ...coord.Op) (was bool, err error) {
	for range rounds {
		t, err := measure(ctx, reg, job)
		if errors.Is(err, coord.ErrCompacted) {
			continue
		}
		if err != nil || len(t.paths) == 0 {
			return was, err
		}
		was = true
		if err := t.remove(ctx, reg, job, append(conditions[:len(conditions):len(conditions)], coord.Absent(job.Config()))); err != nil {
			return was, err
		}
	}
	return was, fmt.Errorf("%w: something of job %s is always left", coord.ErrUnavailable, job)
}

// IsSmall reports whether a job can go in one commit.
func IsSmall(ctx context.Context, reg coord.Registry, job jobtree.Job) (bool, error) {
	t, err := measure(ctx, reg, job)
	return err == nil && t.weight[job.Root()] <= maxCommit, err
}

// tree is a tree of nodes with what the removal of each, and of all below it, costs in bytes.
type tree struct {
	paths  []string // ascending
	weight map[string]int
}

func measure(ctx context.Context, reg coord.Registry, job jobtree.Job) (tree, error) {
	t := tree{weight: map[string]int{}}
	for n, err := range reg.Walk(ctx, job.Root()) {
		if err != nil {
			return tree{}, err
		}
		t.paths = append(t.paths, n.Path)
		for path := n.Path; path != ""; path = coord.Parent(path) {
			t.weight[path] += len(n.Path) + perNode
		}
	}
	return t, nil
}

// remove removes everything if it is small, or else all parts that are small. What holds these
// parts is left.
func (t tree) remove(ctx context.Context, reg coord.Registry, job jobtree.Job, conditions []coord.Op) error {
	c := chunk{reg: reg, conditions: conditions}
	chosen := map[string]bool{}
	for _, path := range t.paths {
		part := t.partOf(path, job)
		if part == "" || chosen[part] {
			continue
		}
		chosen[part] = true
		if err := c.add(ctx, part, t.weight[part]); err != nil {
			return err
		}
	}
	return c.commit(ctx)
}

// partOf returns the largest small tree to which a node belongs; "" if it holds several.
func (t tree) partOf(path string, job jobtree.Job) string {
	if t.weight[job.Root()] <= maxCommit {
		return job.Root()
	}
	for end := len(job.Root()); end < len(path); {
		next := strings.IndexByte(path[end+1:], '/')
		if end += 1 + next; next < 0 {
			end = len(path)
		}
		// A stranger's node may have a path that no request can have. It goes with what holds it.
		if part := path[:end]; t.weight[part] <= maxPart && coord.ValidatePath(part) == nil {
			return part
		}
	}
	return ""
}

// chunk is a commit that removes some parts, on conditions: the job has no configuration.
type chunk struct {
	reg        coord.Registry
	conditions []coord.Op
	parts      []coord.Op
	size       int
}

func (c *chunk) add(ctx context.Context, part string, weight int) error {
	op := coord.DeleteTree(part)
	if c.size+weight > maxCommit || coord.Cost(c.conditions...)+coord.Cost(op)+coord.Cost(c.parts...) > coord.MaxOps {
		if err := c.commit(ctx); err != nil {
			return err
		}
	}
	c.parts, c.size = append(c.parts, op), c.size+weight
	return nil
}

func (c *chunk) commit(ctx context.Context) error {
	if len(c.parts) == 0 {
		return nil
	}
	_, err := c.reg.Commit(ctx, append(c.parts, c.conditions...)...)
	c.parts, c.size = c.parts[:0], 0
	if conflict, ok := errors.AsType[*coord.ConflictError](err); ok && conflict.Op.Kind == coord.OpAbsent {
		return fmt.Errorf("%w: %w", ErrConfigured, err)
	}
	return err
}
