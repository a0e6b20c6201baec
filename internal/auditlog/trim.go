package auditlog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/fair"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// NewestFirst orders entries as the store has created them. Clocks of operators may differ.
func NewestFirst(a, b coord.Node) int {
	return cmp.Or(cmp.Compare(b.Created, a.Created), strings.Compare(b.Path, a.Path))
}

// IsToTrim reports whether who has created an entry trims: one in 128 does, because that takes ZooKeeper a thousand reads.
func IsToTrim(id string) bool { return strings.HasSuffix(id, "00") || strings.HasSuffix(id, "80") }

// Trim removes entries, so that most stay: the oldest ones of whoever has the most. So who has made few changes
// keeps their entries, however many somebody else makes.
func Trim(ctx context.Context, reg coord.Registry, most int) error {
	nodes, err := reg.List(ctx, jobtree.Audits)
	if err != nil {
		return fmt.Errorf("audit: trim: %w", err)
	}
	slices.SortFunc(nodes, func(a, b coord.Node) int { return NewestFirst(b, a) })
	entries := make([]fair.Entry, len(nodes))
	for i, n := range nodes {
		d, _ := jobtree.DecodeAudit(n.Value) // those that cannot be read count as one actor's
		entries[i] = fair.Entry{Owner: fair.Owner(d.By), Size: 1}
	}
	var ops []coord.Op
	for i, goes := range fair.Drop(entries, most) {
		if goes {
			ops = append(ops, coord.DeleteTree(nodes[i].Path))
		}
	}
	for some := range slices.Chunk(ops, coord.MaxOps/2) { // a removal costs two
		if _, err := reg.Commit(ctx, some...); err != nil {
			return fmt.Errorf("audit: trim: %w", err)
		}
	}
	return nil
}
