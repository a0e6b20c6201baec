package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Commit implements [coord.Registry]. It is one transaction. Some operations need to know
// what one comparison of etcd cannot ask. They are tried with a guess; if the guess was
// wrong, the answer tells what is right, and the next attempt uses that.
func (r *Registry) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	if err := coord.ValidateCommit(ops...); err != nil {
		return 0, fmt.Errorf("etcd: commit: %w", err)
	}
	// First take the session, then look at the context. If the context belongs to a session
	// that was lost, it has ended before the next session is there to be taken. So nothing
	// is created in a session that the caller does not know.
	t := transaction{keys: r.keys, ops: ops, guesses: make([]guess, len(ops))}
	if slices.ContainsFunc(ops, func(op coord.Op) bool { return op.Kind.NeedsSession() }) {
		s := r.currentSession()
		switch {
		case ctx.Err() != nil:
			return 0, fmt.Errorf("etcd: %s: %w", t.what(), context.Cause(ctx))
		case r.ctx.Err() != nil:
			return 0, fmt.Errorf("etcd: %s: %w", t.what(), coord.ErrClosed)
		case s == nil:
			return 0, fmt.Errorf("etcd: %s: %w", t.what(), coord.ErrSessionLost)
		}
		t.session = s
	}
	for i, op := range ops {
		// No node that was written has the version 0, so the caller means a parent.
		t.guesses[i].isParent = op.Version == 0 && (op.Kind == coord.OpSetAt || op.Kind == coord.OpAtVersion)
	}

	const attempts = 10 // after the first two, each is needed only because somebody else wrote
	for attempt := range attempts {
		first := attempt == 0
		answer, err := r.attempt(ctx, &t, !first || t.worthAsking(), first)
		if err != nil {
			return 0, err
		}
		if answer.succeeded {
			if !t.writesValues() {
				return 0, nil
			}
			return answer.revision, nil
		}
		if !answer.asked {
			continue
		}
		if err := r.learn(ctx, &t, answer); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("etcd: %s: %w: the nodes changed during each of %d attempts", t.what(), coord.ErrUnavailable, attempts)
}

// attempt runs the transaction once, perhaps in one request with other commits. If no answer
// came, the outcome is unknown only if the request was sent: one that found no connection
// was not. The first attempt may go without asking, if it goes with others.
func (r *Registry) attempt(ctx context.Context, t *transaction, ask, first bool) (answer, error) {
	if first && t.writes() && r.committer.isBusy() {
		ask = false // run would leave it out
	}
	request, err := t.checked(ask)
	if err != nil {
		return answer{}, err
	}
	return r.committer.run(ctx, t, request, first)
}

// attemptAlone is attempt, but the transaction shares its revision with no other commit.
func (r *Registry) attemptAlone(ctx context.Context, t *transaction, ask bool) (answer, error) {
	request, err := t.checked(ask)
	if err != nil {
		return answer{}, err
	}
	return r.committer.sendAlone(ctx, t, request)
}

// learn corrects the guesses from the answer to an attempt that failed. If an operation
// does not hold it returns the conflict of the first such one.
func (r *Registry) learn(ctx context.Context, t *transaction, answer answer) error {
	findings := answer.responses
	next := func() []*mvccpb.KeyValue {
		kvs := findings[0].GetResponseRange().Kvs
		findings = findings[1:]
		return kvs
	}
	isFirst := true // a conflict is that of the first operation that does not hold
	for i, op := range t.ops {
		var found finding
		asksKey, asksBelow := t.asks(i)
		if asksKey {
			if kvs := next(); len(kvs) > 0 {
				found.kv = kvs[0]
			}
		}
		switch {
		case asksBelow:
			found.isParent = len(next()) > 0
		case found.kv == nil && needsNode(op.Kind):
			// The node may still be a parent. The transaction does not ask that for every
			// operation: it has no room for it, and parents are rarely the reason.
			below, err := r.hasBelow(ctx, t.what(), op.Path, answer.revision)
			if errors.Is(err, errCompacted) {
				return nil // the guesses stay, and the next attempt answers at a newer revision
			}
			if err != nil {
				return err
			}
			found.isParent = below
		}
		switch reason := t.judge(i, found); {
		case errors.Is(reason, errNotAsked):
			isFirst = false
		case reason != nil && !isFirst:
			return nil // the next attempt tells which is
		case reason != nil:
			return fmt.Errorf("etcd: commit: %w", &coord.ConflictError{Index: i, Op: op, Reason: reason})
		}
	}
	return nil
}
