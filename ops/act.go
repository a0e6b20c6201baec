package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/auditlog"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// act is one change that an operator makes. Each of its commits writes the entry of the audit,
// too: so nothing changes that the audit does not have. A change that takes several commits has one
// entry, which the first of them creates.
type act struct {
	ops    *Ops
	id     string
	change Change
	last   int64 // the number of its last commit; 0 before the first
}

// act begins a change. Whoever calls it fills in what the change is, before he commits.
func (o *Ops) act(job jobtree.Job, action Action) (*act, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", action, err)
	}
	return &act{ops: o, id: id.String(), change: Change{By: o.by, From: o.from, Job: string(job), Action: action, Why: o.why}}, nil
}

// says sets what the change is, and returns the act.
func (a *act) says(detail, before, after string) *act {
	a.change.Detail, a.change.Before, a.change.After = detail, before, after
	return a
}

// commit commits operations together with the entry of the audit, and tells of the change. In a
// dry run it only looks whether the store would take them.
func (a *act) commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	if a.change.At.IsZero() { // else it has begun already
		a.change.At = a.ops.now().UTC()
	}
	a.change = a.change.bounded()
	if a.ops.isDry {
		ops = append(ops[:len(ops):len(ops)], a.entry())
		if err := a.ops.wouldTake(ctx, ops); err != nil {
			return 0, err
		}
		a.ops.tell(a.change)
		return 0, nil
	}
	revision, isFirst, err := a.write(ctx, ops)
	if err != nil {
		return 0, err
	}
	a.last = revision
	a.ops.tell(a.change)
	if isFirst && auditlog.IsToTrim(a.change.ID) {
		_ = auditlog.Trim(ctx, a.ops.reg, MaxAudit) // the change is made; whoever makes another one may trim
	}
	return revision, nil
}

// write commits operations with the entry, which a batch has for several changes. isFirst is whether that is new.
func (a *act) write(ctx context.Context, ops []coord.Op) (revision int64, isFirst bool, err error) {
	id, entry := a.id, a.entry()
	if d := a.change.document(); a.ops.batch != nil && auditlog.Shares(d) {
		shared, failed := a.ops.batch.Begin(ctx, d)
		if failed != nil {
			return 0, false, failed
		}
		defer func() { shared.End(revision, errors.Is(err, coord.ErrUnknownOutcome)) }()
		id, a.last, a.change.Jobs = shared.ID, shared.Last, []string{a.change.Job}
		entry = coord.Put(jobtree.Audit(id), jobtree.EncodeAudit(shared.Document))
	}
	revision, err = a.ops.reg.Commit(ctx, append(ops[:len(ops):len(ops)], entry)...)
	if errors.Is(err, coord.ErrUnknownOutcome) {
		// If it was made, and only the answer is lost, its entry is there. If it is not, it may still come.
		if n, unread := a.ops.reg.Get(ctx, jobtree.Audit(id)); unread == nil && n.Modified > a.last {
			revision, err = n.Modified, nil
		}
	}
	a.change.ID = id
	return revision, a.last == 0, err
}

// entry is the operation that writes the entry of the audit, the same node in all commits; in a batch as large as one can become.
func (a *act) entry() coord.Op {
	d := a.change.document()
	if d.Jobs = nil; a.ops.batch != nil {
		d.Jobs = auditlog.Largest()
	}
	return coord.Put(jobtree.Audit(a.id), jobtree.EncodeAudit(d))
}

// fits reports whether the store takes the operations in one commit of the act.
func (a *act) fits(ops ...coord.Op) bool {
	return coord.ValidateCommit(append(ops[:len(ops):len(ops)], a.entry())...) == nil
}

// commitAll commits groups of operations in as few commits as the store takes, each on the same
// conditions. A group is not divided. It returns how many groups were committed: the first ones.
func (a *act) commitAll(ctx context.Context, groups [][]coord.Op, conditions ...coord.Op) (done int, err error) {
	head := slices.Clip(append([]coord.Op{a.entry()}, conditions...))
	for _, change := range decide.InChunks("", groups, head...) {
		if _, err := a.commit(ctx, change.Ops[1:]...); err != nil {
			return done, err
		}
		done += len(change.Parts)
	}
	return done, nil
}

// wouldTake returns the error with which the store would refuse a commit now.
func (o *Ops) wouldTake(ctx context.Context, ops []coord.Op) error {
	if err := coord.ValidateCommit(ops...); err != nil {
		return err
	}
	for i, op := range ops {
		if op.Kind == coord.OpPut || op.Kind == coord.OpDeleteTree {
			continue
		}
		n, err := o.reg.Get(ctx, op.Path)
		isThere := err == nil
		if err != nil && !errors.Is(err, coord.ErrNoNode) {
			return err
		}
		var reason error
		switch op.Kind {
		case coord.OpCreate, coord.OpCreateEphemeral, coord.OpAbsent:
			if isThere {
				reason = coord.ErrNodeExists
			}
		case coord.OpSetAt, coord.OpAtVersion:
			if isThere && n.Version != op.Version {
				reason = coord.ErrVersion
			}
			fallthrough
		default:
			if !isThere {
				reason = coord.ErrNoNode
			}
		}
		if reason != nil {
			return &coord.ConflictError{Index: i, Op: op, Reason: reason}
		}
	}
	return nil
}
