package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/auditlog"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// MaxAudit is how many changes a namespace keeps. There may be some hundreds more for a while. Of more than that, the oldest
// ones of the actor ([Ops.By]) who has the most go, so he pushes out nobody else's. That is a bound between the users of a
// console, who are known. Who may write to the store may use any name, and remove entries.
const MaxAudit = 1000

// AuditQuery says which changes are wanted. The zero query is for all.
type AuditQuery struct {
	Job    string // empty means all, and those of the namespace; others also find entries of several jobs
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
	slices.SortFunc(nodes, auditlog.NewestFirst)
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
		if !c.limit(o.only) || q.Job != "" && c.Job != q.Job && !slices.Contains(c.Jobs, q.Job) || q.By != "" && c.By != q.By || q.Action != "" && c.Action != q.Action ||
			!q.From.IsZero() && c.At.Before(q.From) || !q.To.IsZero() && !c.At.Before(q.To) {
			continue
		}
		if list = append(list, c); len(list) == q.Limit {
			break
		}
	}
	return list, nil
}

// limit leaves out the jobs that are not wanted, and reports whether any is left. Nil wants all.
func (c *Change) limit(wanted func(job string) bool) bool {
	if wanted == nil || c.Job != "" {
		return wanted == nil || wanted(c.Job)
	}
	c.Jobs = slices.DeleteFunc(c.Jobs, func(job string) bool { return !wanted(job) })
	return len(c.Jobs) > 0
}
