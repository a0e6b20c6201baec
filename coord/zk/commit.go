package zk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// maxAttempts bounds how often a commit is planned anew because somebody else changed
// the tree under it. Each time somebody else got on.
const maxAttempts = 100

// Commit implements [coord.Registry].
func (r *Registry) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	if err := coord.ValidateCommit(ops...); err != nil {
		return 0, fmt.Errorf("zk: commit: %w", err)
	}
	stat, err := r.commit(ctx, ops)
	if err != nil {
		return 0, fmt.Errorf("zk: commit %s: %w", ops[0].Path, err)
	}
	return stat.Mzxid, nil
}

// commit does ops in one multi, and returns what the last write left, or nothing if
// there was none.
//
// It guesses first, so that the usual commit costs one round trip: a node is there
// unless an open view lacks it. When that was wrong it reads what it needs to know, and
// plans again.
func (r *Registry) commit(ctx context.Context, ops []coord.Op) (zookeeper.Stat, error) {
	l := r.limit(ctx)
	var s *session
	var known facts
	for range maxAttempts {
		if s == nil || s.ctx.Err() != nil {
			var err error
			if s, err = r.sessionFor(l, s, ops); err != nil {
				return zookeeper.Stat{}, err
			}
		}
		again, stat, err := r.attempt(l, s, ops, &known)
		if !again {
			return stat, err
		}
	}
	return zookeeper.Stat{}, fmt.Errorf("%w: the tree changed under the commit %d times", coord.ErrUnavailable, maxAttempts)
}

// sessionFor returns the session to commit in. A commit of ephemeral nodes stays with
// the session in which it was begun.
func (r *Registry) sessionFor(l limit, begun *session, ops []coord.Op) (*session, error) {
	needed := false
	for _, op := range ops {
		needed = needed || op.Kind == coord.OpCreateEphemeral || op.Kind == coord.OpOwned
	}
	if !needed {
		s, err := r.current(l)
		return s, convertError(err, "")
	}
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if r.ctx.Err() != nil {
		return nil, context.Cause(r.ctx)
	}
	if err := l.over(); err != nil {
		return nil, err
	}
	if begun != nil || s == nil || s.ctx.Err() != nil {
		return nil, coord.ErrSessionLost
	}
	return s, nil
}

// attempt plans and sends once. It has to be done again if the plan was made on wrong
// guesses, or the connection was lost before anything was written.
func (r *Registry) attempt(l limit, s *session, ops []coord.Op, known *facts) (again bool, stat zookeeper.Stat, err error) {
	if err := r.learn(l, s, ops, known); err != nil {
		if isLost(err) {
			return true, stat, nil
		}
		return false, stat, convertError(err, "")
	}
	p := r.plan(ops, *known, int64(s.ID()))
	if p.conflict != nil {
		return false, stat, p.conflict
	}
	if size := p.size(); size > maxPacket {
		return false, stat, fmt.Errorf("%w: %d bytes with all that belongs to it, at most %d are allowed", coord.ErrTooLarge, size, maxPacket)
	}
	if len(p.requests) == 0 {
		return false, stat, nil // the removal of a tree that is not there
	}
	results, err := call(l, s.conn, p.send)
	switch failed := firstError(results); {
	case err == nil:
		return false, p.stat(results), nil
	case failed >= 0:
		again, err = p.judge(failed, results[failed].Error)
		if again {
			*known = facts{certain: true}
		}
		return again, stat, err
	case errors.Is(err, errOver):
		return true, stat, nil // not sent; perhaps in the next session
	case !wasAnswered(err):
		return false, stat, fmt.Errorf("%w: %w", coord.ErrUnknownOutcome, err)
	}
	return false, stat, convertError(err, "")
}

// send makes the requests, in one step.
func (p *plan) send(client *zookeeper.Conn) ([]zookeeper.MultiResponse, error) {
	if set, ok := p.requests[0].(*zookeeper.SetDataRequest); ok && len(p.requests) == 1 {
		// The commonest commit, for which a multi would be the greater part of the cost.
		stat, err := client.Set(set.Path, set.Data, set.Version)
		if err != nil && !wasAnswered(err) {
			return nil, err
		}
		return []zookeeper.MultiResponse{{Stat: stat, Error: err}}, err
	}
	return client.Multi(p.requests...)
}

// firstError finds the request for which a multi failed; those behind it have an error
// that says nothing.
func firstError(results []zookeeper.MultiResponse) int {
	for i, result := range results {
		if result.Error != nil {
			return i
		}
	}
	return -1
}

// role is what a request does for an op.
type role int

const (
	itself role = iota // it is the op, or the whole of it
	helper             // a parent, or a part: its failure is no conflict, but news
)

// plan is a multi on its way.
type plan struct {
	r        *Registry
	ops      []coord.Op
	known    facts
	session  int64
	requests []any
	origin   []int // of each request: the op
	roles    []role
	written  map[string]int  // paths to the ops that write them
	done     []bool          // of each op: it is among the requests
	made     map[string]bool // nodes that the requests before make, by their full path
	smallest *zookeeper.CreateRequest
	writes   int // requests whose answer has a Stat
	conflict error
}

// plan turns ops into requests, with what is known and guesses about the rest.
// Conditions come first, because they speak of the tree before the commit.
func (r *Registry) plan(ops []coord.Op, known facts, session int64) *plan {
	p := &plan{r: r, ops: ops, known: known, session: session, done: make([]bool, len(ops))}
	if len(ops) > 1 {
		p.written = make(map[string]int, len(ops))
	}
	for i, op := range ops {
		full := r.full(op.Path)
		switch {
		case !op.Kind.Writes():
			p.condition(i, op, full)
		case op.Kind == coord.OpDeleteTree && len(known.trees[full]) == 0 && len(ops) > 1:
			p.absent(i, full, helper) // what the removal of nothing relies on
		case len(ops) > 1:
			p.written[full] = i
		}
	}
	for i := range ops {
		p.write(i)
	}
	if p.writes == 0 && p.smallest != nil {
		// The answer to a creation does not tell when it happened, but that to a
		// write does. So one of the nodes gets its value in a second step, which
		// cannot fail.
		p.add(-1, helper, &zookeeper.SetDataRequest{Path: p.smallest.Path, Data: p.smallest.Data, Version: -1})
		p.smallest.Data = []byte{}
	}
	return p
}

func (p *plan) add(op int, role role, request any) {
	p.requests = append(p.requests, request)
	p.origin = append(p.origin, op)
	p.roles = append(p.roles, role)
	if _, ok := request.(*zookeeper.SetDataRequest); ok {
		p.writes++
	}
}

func (p *plan) condition(i int, op coord.Op, full string) {
	switch op.Kind {
	case coord.OpExists:
		p.add(i, itself, &zookeeper.CheckVersionRequest{Path: full, Version: -1})
	case coord.OpAtVersion:
		p.add(i, itself, &zookeeper.CheckVersionRequest{Path: full, Version: version(op.Version)})
	case coord.OpAbsent:
		p.absent(i, full, itself)
	case coord.OpOwned:
		// No request can ask for the owner. It was read; that nobody has written
		// the node since can be asked for.
		stat := p.known.stats[full]
		switch {
		case stat == nil:
			p.conflicts(i, coord.ErrNoNode)
		case stat.EphemeralOwner != p.session:
			p.conflicts(i, coord.ErrNotOwner)
		default:
			p.add(i, itself, &zookeeper.CheckVersionRequest{Path: full, Version: stat.Version})
		}
	}
}

func (p *plan) conflicts(i int, reason error) {
	if p.conflict == nil {
		p.conflict = p.refused(i, reason)
	}
}

// version is what to ask for: ZooKeeper's are from 0 to the largest int32, and -1 means
// any, so what can be none becomes one that no node has.
func version(v int64) int32 {
	if v < 0 || v > math.MaxInt32 {
		return -2
	}
	return int32(v)
}

// absent asks for the absence of a node by making it and removing it again, or, if even
// a parent is missing, the topmost such.
func (p *plan) absent(i int, full string, role role) {
	top := full
	for parent := parentOf(full); parent != "/"; parent = parentOf(parent) {
		if p.lacks(parent) {
			top, role = parent, helper
		}
		if stat := p.known.stats[parent]; stat != nil && stat.EphemeralOwner != 0 {
			// Nothing can be below it while it is there.
			p.add(i, helper, &zookeeper.CheckVersionRequest{Path: parent, Version: -1})
			return
		}
	}
	p.add(i, role, p.create(top, nil, 0))
	p.add(i, helper, &zookeeper.DeleteRequest{Path: top, Version: -1})
}

func (p *plan) create(full string, value []byte, flags int32) *zookeeper.CreateRequest {
	return &zookeeper.CreateRequest{Path: full, Data: own(value), Acl: p.r.acl, Flags: flags}
}

// own is a copy of a value: a request that nobody waits for any more may be sent when its
// caller has its buffer back. It is not nil, which for JVM clients is not the same as empty.
func own(value []byte) []byte { return append([]byte{}, value...) }

// write adds an op that writes, after those that it stands on.
func (p *plan) write(i int) {
	op := p.ops[i]
	if p.done[i] || !op.Kind.Writes() {
		return
	}
	p.done[i] = true
	full := p.r.full(op.Path)
	switch op.Kind {
	case coord.OpCreate:
		p.make(i, full, op.Value, 0)
	case coord.OpCreateEphemeral:
		p.make(i, full, op.Value, zookeeper.FlagEphemeral)
	case coord.OpPut:
		if p.lacks(full) {
			p.make(i, full, op.Value, 0)
		} else {
			p.add(i, itself, &zookeeper.SetDataRequest{Path: full, Data: own(op.Value), Version: -1})
		}
	case coord.OpSet:
		p.add(i, itself, &zookeeper.SetDataRequest{Path: full, Data: own(op.Value), Version: -1})
	case coord.OpSetAt:
		p.add(i, itself, &zookeeper.SetDataRequest{Path: full, Data: own(op.Value), Version: version(op.Version)})
	case coord.OpDelete:
		p.add(i, itself, &zookeeper.DeleteRequest{Path: full, Version: -1})
	case coord.OpDeleteTree:
		for _, node := range p.known.trees[full] {
			p.add(i, helper, &zookeeper.DeleteRequest{Path: node, Version: -1})
		}
	}
}

// make adds the creation of a node, and before it of the parents that are missing.
func (p *plan) make(i int, full string, value []byte, flags int32) {
	p.makeParents(i, full)
	request := p.create(full, value, flags)
	p.add(i, itself, request)
	p.created(request)
}

func (p *plan) created(request *zookeeper.CreateRequest) {
	if p.made == nil {
		p.made = make(map[string]bool)
	}
	p.made[request.Path] = true
	if p.smallest == nil || len(request.Data) < len(p.smallest.Data) {
		p.smallest = request
	}
}

func (p *plan) makeParents(i int, full string) {
	parent := parentOf(full)
	if parent == "/" || p.made[parent] {
		return
	}
	if j, ok := p.written[parent]; ok {
		p.write(j) // which may make it, or has to fail first
		if p.made[parent] {
			return
		}
	}
	if !p.lacks(parent) {
		return
	}
	p.makeParents(i, parent)
	request := p.create(parent, nil, 0)
	p.add(i, helper, request)
	p.created(request)
}

// lacks tells or guesses that a node is not there.
func (p *plan) lacks(full string) bool {
	if stat, ok := p.known.stats[full]; ok || p.known.certain {
		return ok && stat == nil
	}
	return strings.HasPrefix(full, p.r.root+"/") && p.r.views.lack(p.r.relative(full))
}

func parentOf(full string) string {
	if i := strings.LastIndexByte(full, '/'); i > 0 {
		return full[:i]
	}
	return "/"
}

// judge says what the failure of a request means: a conflict, or that the plan was made
// on wrong guesses.
func (p *plan) judge(failed int, err error) (again bool, conflict error) {
	i := p.origin[failed]
	var reason error
	switch {
	case errors.Is(err, zookeeper.ErrNoNode):
		reason = coord.ErrNoNode
	case errors.Is(err, zookeeper.ErrNodeExists):
		reason = coord.ErrNodeExists
	case errors.Is(err, zookeeper.ErrBadVersion):
		reason = coord.ErrVersion
	case errors.Is(err, zookeeper.ErrNotEmpty):
		reason = coord.ErrNotEmpty
	case errors.Is(err, zookeeper.ErrNoChildrenForEphemerals) && i >= 0 && !p.ops[i].Kind.Writes() && !p.known.certain:
		return true, nil // absent, and now we shall know why
	case errors.Is(err, zookeeper.ErrNoAuth) && i >= 0:
		return false, p.refused(i, coord.ErrDenied) // also for a part of the op: all of it has to be allowed
	case errors.Is(err, zookeeper.ErrNoChildrenForEphemerals) && i >= 0:
		return false, fmt.Errorf("its parent is ephemeral: %w", p.refused(i, coord.ErrInvalidCommit))
	default:
		path := ""
		if i >= 0 {
			path = p.ops[i].Path
		}
		return false, convertError(err, path)
	}
	if p.roles[failed] == helper || i < 0 {
		return true, nil
	}
	op := p.ops[i]
	switch op.Kind {
	case coord.OpPut:
		return true, nil
	case coord.OpCreate, coord.OpCreateEphemeral, coord.OpAbsent:
		if reason == coord.ErrNoNode {
			return true, nil // a parent is missing
		}
	case coord.OpOwned:
		if reason == coord.ErrVersion {
			return true, nil // written since it was read
		}
	}
	return false, p.refused(i, reason)
}

func (p *plan) refused(i int, reason error) error {
	return &coord.ConflictError{Index: i, Op: p.ops[i], Reason: reason}
}

// stat is what the answer says of the last write.
func (p *plan) stat(results []zookeeper.MultiResponse) zookeeper.Stat {
	for i := len(results) - 1; i >= 0; i-- {
		if results[i].Stat != nil {
			return *results[i].Stat
		}
	}
	return zookeeper.Stat{}
}
