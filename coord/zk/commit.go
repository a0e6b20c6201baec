package zk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	zookeeper "github.com/go-zookeeper/zk"

	"github.com/elasticjob-go/elasticjob/coord"
)

// maxAttempts bounds how often a commit is planned again because somebody else has changed
// the tree meanwhile.
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

// commit sends ops as one multi, and returns the Stat of the last node that it wrote, the zero Stat
// if it wrote none.
//
// First it guesses which nodes exist, so that the usual commit costs one round trip: a node is
// missing only if an open view says so. After a wrong guess it reads what it needs to know, and
// plans again.
func (r *Registry) commit(ctx context.Context, ops []coord.Op) (zookeeper.Stat, error) {
	l := r.limit(ctx)
	var s *session
	var known knowledge
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

// sessionFor returns the session to commit in. begun is the session of the attempt before, or nil.
// A commit that needs the session fails if the session in which it began is lost.
func (r *Registry) sessionFor(l limit, begun *session, ops []coord.Op) (*session, error) {
	if !slices.ContainsFunc(ops, func(op coord.Op) bool { return op.Kind.NeedsSession() }) {
		s, err := r.awaitSession(l)
		return s, convertError(err, "")
	}
	r.mu.Lock()
	s := r.session
	r.mu.Unlock()
	if r.ctx.Err() != nil {
		return nil, context.Cause(r.ctx)
	}
	if err := l.cause(); err != nil {
		return nil, err
	}
	if begun != nil || s == nil || s.ctx.Err() != nil {
		return nil, coord.ErrSessionLost
	}
	return s, nil
}

// attempt plans and sends a commit once. again reports that it must be tried again: a guess was
// wrong, or the connection was lost before anything was sent.
func (r *Registry) attempt(l limit, s *session, ops []coord.Op, known *knowledge) (again bool, stat zookeeper.Stat, err error) {
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
		return false, stat, fmt.Errorf("%w: the request has %d bytes, at most %d are allowed", coord.ErrTooLarge, size, maxPacket)
	}
	if len(p.requests) == 0 {
		return false, stat, nil // it only removes a tree that does not exist
	}
	results, err := call(l, s.conn, p.send)
	switch failed := firstError(results); {
	case err == nil:
		return false, p.stat(results), nil
	case failed >= 0:
		again, err = p.judge(failed, results[failed].Error)
		if again {
			*known = knowledge{noGuesses: true}
		}
		return again, stat, err
	case errors.Is(err, errConnEnded):
		return true, stat, nil // nothing was sent, so the next session may commit it
	case !wasAnswered(err):
		return false, stat, fmt.Errorf("%w: %w", coord.ErrUnknownOutcome, err)
	}
	return false, stat, convertError(err, "")
}

// send sends the requests as one atomic step.
func (p *plan) send(client *zookeeper.Conn) ([]zookeeper.MultiResponse, error) {
	if set, ok := p.requests[0].(*zookeeper.SetDataRequest); ok && len(p.requests) == 1 {
		// A single set is the most frequent commit, and costs less than half without a multi.
		stat, err := client.Set(set.Path, set.Data, set.Version)
		if err != nil && !wasAnswered(err) {
			return nil, err
		}
		return []zookeeper.MultiResponse{{Stat: stat, Error: err}}, err
	}
	return client.Multi(p.requests...)
}

// firstError returns the index of the request that made a multi fail, -1 if none did. The errors of
// later requests mean nothing.
func firstError(results []zookeeper.MultiResponse) int {
	for i, result := range results {
		if result.Error != nil {
			return i
		}
	}
	return -1
}

// role says what the failure of a request means.
type role int

const (
	itself role = iota // the request is the op as a whole: a failure is a conflict
	helper             // the request is for a parent or a part of the op: a failure means a wrong guess
)

// plan is a multi that is being built. Paths are full paths.
type plan struct {
	r        *Registry
	ops      []coord.Op
	known    knowledge
	session  int64
	requests []any
	origin   []int                    // for each request the index of its op; -1 if it has none
	roles    []role                   // for each request
	written  map[string]int           // for each path that is written the index of the op
	done     []bool                   // for each op whether its requests were added
	made     map[string]bool          // nodes that the requests so far create
	smallest *zookeeper.CreateRequest // the creation with the smallest value
	writes   int                      // how many requests return a Stat
	conflict error                    // the first conflict that is known before anything is sent
}

// plan turns ops into requests, and guesses what is not known. Conditions come first, because they
// are about the tree before the commit.
func (r *Registry) plan(ops []coord.Op, known knowledge, session int64) *plan {
	p := &plan{r: r, ops: ops, known: known, session: session, done: make([]bool, len(ops))}
	if len(ops) > 1 {
		p.written = make(map[string]int, len(ops))
	}
	for i, op := range ops {
		full := r.full(op.Path)
		switch {
		case !op.Kind.Writes():
			p.addCondition(i, op, full)
		case op.Kind == coord.OpDeleteTree && len(known.trees[full]) == 0 && len(ops) > 1:
			p.addAbsent(i, full, helper) // there was no tree to remove; check that there still is none
		case len(ops) > 1:
			p.written[full] = i
		}
	}
	for i := range ops {
		p.addWrite(i)
	}
	if p.writes == 0 && p.smallest != nil {
		// The answer to a set has the zxid of the commit; that to a create has not. So the node
		// with the smallest value gets its value by a set after its creation, which cannot fail.
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

func (p *plan) addCondition(i int, op coord.Op, full string) {
	switch op.Kind {
	case coord.OpExists:
		p.add(i, itself, &zookeeper.CheckVersionRequest{Path: full, Version: -1})
	case coord.OpAtVersion:
		p.add(i, itself, &zookeeper.CheckVersionRequest{Path: full, Version: version(op.Version)})
	case coord.OpAbsent:
		p.addAbsent(i, full, itself)
	case coord.OpOwned:
		// No request can check the owner, which was read before. The request checks that the
		// node was not written since.
		stat := p.known.stats[full]
		switch {
		case stat == nil:
			p.setConflict(i, coord.ErrNoNode)
		case stat.EphemeralOwner != p.session:
			p.setConflict(i, coord.ErrNotOwner)
		default:
			p.add(i, itself, &zookeeper.CheckVersionRequest{Path: full, Version: stat.Version})
		}
	}
}

// setConflict records a conflict that is known before anything is sent. The first one counts.
func (p *plan) setConflict(i int, reason error) {
	if p.conflict == nil {
		p.conflict = p.conflictOf(i, reason)
	}
}

// version converts a version for a request. ZooKeeper's versions go from 0 to the largest
// int32, and -1 means any. Every other number becomes -2, which no node has.
func version(v int64) int32 {
	if v < 0 || v > math.MaxInt32 {
		return -2
	}
	return int32(v)
}

// addAbsent adds the check that a node is absent: the node, or the topmost missing parent, is created
// and removed again.
func (p *plan) addAbsent(i int, full string, role role) {
	top := full
	for parent := parentOf(full); parent != "/"; parent = parentOf(parent) {
		if p.isMissing(parent) {
			top, role = parent, helper
		}
		if stat := p.known.stats[parent]; stat != nil && stat.EphemeralOwner != 0 {
			// Nothing can be below an ephemeral parent, as long as that exists.
			p.add(i, helper, &zookeeper.CheckVersionRequest{Path: parent, Version: -1})
			return
		}
	}
	p.add(i, role, p.create(top, nil, 0))
	p.add(i, helper, &zookeeper.DeleteRequest{Path: top, Version: -1})
}

func (p *plan) create(full string, value []byte, flags int32) *zookeeper.CreateRequest {
	return &zookeeper.CreateRequest{Path: full, Data: copyOf(value), Acl: p.r.acl, Flags: flags}
}

// copyOf copies a value, because an abandoned request may be sent after its caller has reused the
// buffer. The copy is never nil: JVM clients tell nil from empty.
func copyOf(value []byte) []byte { return append([]byte{}, value...) }

// addWrite adds the requests of an op that writes, after those of the ops that write its parents,
// unless it was added already.
func (p *plan) addWrite(i int) {
	op := p.ops[i]
	if p.done[i] || !op.Kind.Writes() {
		return
	}
	p.done[i] = true
	full := p.r.full(op.Path)
	switch op.Kind {
	case coord.OpCreate:
		p.addCreate(i, full, op.Value, 0)
	case coord.OpCreateEphemeral:
		p.addCreate(i, full, op.Value, zookeeper.FlagEphemeral)
	case coord.OpPut:
		if p.isMissing(full) {
			p.addCreate(i, full, op.Value, 0)
		} else {
			p.add(i, itself, &zookeeper.SetDataRequest{Path: full, Data: copyOf(op.Value), Version: -1})
		}
	case coord.OpSet:
		p.add(i, itself, &zookeeper.SetDataRequest{Path: full, Data: copyOf(op.Value), Version: -1})
	case coord.OpSetAt:
		p.add(i, itself, &zookeeper.SetDataRequest{Path: full, Data: copyOf(op.Value), Version: version(op.Version)})
	case coord.OpDelete:
		p.add(i, itself, &zookeeper.DeleteRequest{Path: full, Version: -1})
	case coord.OpDeleteTree:
		for _, node := range p.known.trees[full] {
			p.add(i, helper, &zookeeper.DeleteRequest{Path: node, Version: -1})
		}
	}
}

// addCreate adds the creation of a node, after that of its missing parents.
func (p *plan) addCreate(i int, full string, value []byte, flags int32) {
	p.addParents(i, full)
	request := p.create(full, value, flags)
	p.add(i, itself, request)
	p.noteCreate(request)
}

func (p *plan) noteCreate(request *zookeeper.CreateRequest) {
	if p.made == nil {
		p.made = make(map[string]bool)
	}
	p.made[request.Path] = true
	if p.smallest == nil || len(request.Data) < len(p.smallest.Data) {
		p.smallest = request
	}
}

// addParents adds the creation of the missing parents of a node.
func (p *plan) addParents(i int, full string) {
	parent := parentOf(full)
	if parent == "/" || p.made[parent] {
		return
	}
	if j, ok := p.written[parent]; ok {
		p.addWrite(j) // may create the parent; a failure is then the conflict of op j
		if p.made[parent] {
			return
		}
	}
	if !p.isMissing(parent) {
		return
	}
	p.addParents(i, parent)
	request := p.create(parent, nil, 0)
	p.add(i, helper, request)
	p.noteCreate(request)
}

// isMissing reports whether a node does not exist, by what is known, or else by a guess.
func (p *plan) isMissing(full string) bool {
	if stat, ok := p.known.stats[full]; ok || p.known.noGuesses {
		return ok && stat == nil
	}
	return strings.HasPrefix(full, p.r.root+"/") && p.r.views.lacks(p.r.relative(full))
}

func parentOf(full string) string {
	if i := strings.LastIndexByte(full, '/'); i > 0 {
		return full[:i]
	}
	return "/"
}

// judge returns what the failure of a request means: a conflict, or again for a wrong guess, after
// which the commit is planned again.
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
	case errors.Is(err, zookeeper.ErrNoChildrenForEphemerals) && i >= 0 && !p.ops[i].Kind.Writes() && !p.known.noGuesses:
		return true, nil // the node is absent; the next plan knows the ephemeral parent
	case errors.Is(err, zookeeper.ErrNoAuth) && i >= 0:
		return false, p.conflictOf(i, coord.ErrDenied) // also for a helper: all requests of the op have to be allowed
	case errors.Is(err, zookeeper.ErrNoChildrenForEphemerals) && i >= 0:
		return false, fmt.Errorf("its parent is ephemeral: %w", p.conflictOf(i, coord.ErrInvalidCommit))
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
			return true, nil // the node was written after it was read
		}
	}
	return false, p.conflictOf(i, reason)
}

// conflictOf makes the error of an op that does not hold.
func (p *plan) conflictOf(i int, reason error) error {
	return &coord.ConflictError{Index: i, Op: p.ops[i], Reason: reason}
}

// stat returns the Stat of the last write in the answer.
func (p *plan) stat(results []zookeeper.MultiResponse) zookeeper.Stat {
	for i := len(results) - 1; i >= 0; i-- {
		if results[i].Stat != nil {
			return *results[i].Stat
		}
	}
	return zookeeper.Stat{}
}
