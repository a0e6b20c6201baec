package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/fair"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// MaxAudit is how many changes a namespace keeps. There may be some hundreds more for a while. Of more than that, the oldest
// ones of the actor ([Ops.By]) who has the most go, so he pushes out nobody else's. That is a bound between the users of a
// console, who are known. Who may write to the store may use any name, and remove entries.
const MaxAudit = 1000

// AuditQuery says which changes are wanted. The zero query is for all.
type AuditQuery struct {
	Job    string // empty means all, and those of the namespace
	By     string
	Action Action
	// Changes are from From on, and before To, by the clock of who has made them; zero is open.
	From, To time.Time
	// Before is the ID of a change; only earlier ones are returned.
	Before string
	Limit  int // 0 means all that there are
}

// Audit returns what operators have changed, the newest first. What programs set up by themselves,
// and what JVM consoles change, is not among it.
//
// Errors: those of a read.
func (o *Ops) Audit(ctx context.Context, q AuditQuery) ([]Change, error) {
	nodes, err := o.reg.List(ctx, jobtree.Audits)
	if err != nil && !errors.Is(err, coord.ErrNoNode) {
		return nil, fmt.Errorf("audit: %w", err)
	}
	slices.SortFunc(nodes, newestFirst)
	list := make([]Change, 0, min(len(nodes), MaxAudit))
	isEarlier := q.Before == ""
	for _, n := range nodes {
		id := coord.Base(n.Path)
		if !isEarlier {
			isEarlier = id == q.Before
			continue
		}
		d, err := jobtree.DecodeAudit(n.Value)
		c := changeOf(id, d)
		c.Err = err
		if o.only != nil && (c.Job == "" || !o.only(c.Job)) {
			continue
		}
		if q.Job != "" && c.Job != q.Job || q.By != "" && c.By != q.By || q.Action != "" && c.Action != q.Action ||
			!q.From.IsZero() && c.At.Before(q.From) || !q.To.IsZero() && !c.At.Before(q.To) {
			continue
		}
		if list = append(list, c); len(list) == q.Limit {
			break
		}
	}
	return list, nil
}

// newestFirst orders entries as the store has created them. Clocks of operators may differ.
func newestFirst(a, b coord.Node) int {
	return cmp.Or(cmp.Compare(b.Created, a.Created), strings.Compare(b.Path, a.Path))
}

// isToTrim reports whether who has written an entry removes the oldest ones: one in 128 does,
// because that takes ZooKeeper a thousand reads.
func isToTrim(id string) bool { return strings.HasSuffix(id, "00") || strings.HasSuffix(id, "80") }

// trimAudit removes entries, so that MaxAudit stay: the oldest ones of whoever has the most. So who has made few changes
// keeps their entries, however many somebody else makes.
func trimAudit(ctx context.Context, reg coord.Registry) error {
	nodes, err := reg.List(ctx, jobtree.Audits)
	if err != nil {
		return fmt.Errorf("audit: trim: %w", err)
	}
	slices.SortFunc(nodes, func(a, b coord.Node) int { return newestFirst(b, a) })
	entries := make([]fair.Entry, len(nodes))
	for i, n := range nodes {
		d, _ := jobtree.DecodeAudit(n.Value) // those that cannot be read count as one actor's
		entries[i] = fair.Entry{Owner: fair.Owner(d.By), Size: 1}
	}
	var ops []coord.Op
	for i, goes := range fair.Drop(entries, MaxAudit) {
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
