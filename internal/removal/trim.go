package removal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// MaxKept is how many notes of removed jobs a namespace keeps: the newest. There may be some
// hundreds more for a while.
const MaxKept = 10_000

// oneIn is how seldom somebody who has removed a job counts the notes. To list ten thousand of them
// takes ZooKeeper ten thousand reads.
const oneIn = 100

// IsToTrim reports whether who removes a job calls [Trim] then: that depends on its name, so it is
// the same in each run of a test.
func IsToTrim(job jobtree.Job) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(job)) // a hash returns no error
	return h.Sum32()%oneIn == 0
}

// Trim removes the oldest notes, so that as many as are to be kept stay. One that is written anew
// meanwhile stays, too.
//
// Errors: those of a list and of a commit.
func Trim(ctx context.Context, reg coord.Registry, keep int) error {
	notes, err := reg.List(ctx, jobtree.Removals)
	if errors.Is(err, coord.ErrNoNode) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	slices.SortFunc(notes, func(a, b coord.Node) int { return cmp.Compare(b.Modified, a.Modified) }) // the newest first
	const perCommit = coord.MaxOps / 3                                                               // a condition and a removal for each
	for some := range slices.Chunk(notes[min(keep, len(notes)):], perCommit) {
		var ops []coord.Op
		for _, n := range some {
			ops = append(ops, coord.AtVersion(n.Path, n.Version), coord.DeleteTree(n.Path))
		}
		if _, err := reg.Commit(ctx, ops...); err != nil {
			return fmt.Errorf("trim: %w", err)
		}
	}
	return nil
}
