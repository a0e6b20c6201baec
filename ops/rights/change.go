package rights

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/internal/errclass"
)

// Errors of a change that a program may want to tell apart.
var (
	// ErrInUse: processes still log in as the user that is to go, or have him in their grants.
	ErrInUse = errclass.FailedPrecondition.New("", "rights: the former user is still in use")
	// ErrLockout: who makes the change does not log in as the new user, so nothing shows that
	// anybody can.
	ErrLockout = errclass.InvalidArgument.New("", "rights: nobody could log in as the new user")
	// ErrUnsettled: new nodes with the former user alone keep coming.
	ErrUnsettled = errclass.FailedPrecondition.New("", "rights: the access lists do not settle")
)

// Change puts one user in the place of another, in the access lists of a ZooKeeper namespace.
// The package comment has the steps. All of them may be interrupted and repeated: what is done
// is not done again.
type Change struct {
	// From and To are the former and the new user; with another password a user is another one.
	// Either may be zk.Everybody, for a namespace that had no users, or is to have none.
	From, To zk.Identity
}

// Lists are the access lists of a namespace: a *zk.Registry, which logs in as both users. Who
// logs in has to have Admin on every node, so it may need to be an operator, too.
type Lists interface {
	ACLs(ctx context.Context, path string) iter.Seq2[zk.Guarded, error]
	SetACL(ctx context.Context, path string, acl zk.ACL, version int64) error
	Identities() []zk.Identity
}

// Options of a step.
type Options struct {
	// DryRun makes the step tell what it would change, and change nothing.
	DryRun bool
	// Progress, if set, is told after every 1,000 nodes how far the step has come. It is called
	// by one goroutine at a time, and holds the step up.
	Progress func(Report)
}

// Report is how far a change has come.
type Report struct {
	// Nodes are those that the last pass has looked at, and Passes counts the passes.
	Nodes, Passes int
	// Changed are the lists that were changed in all passes; in a dry run those that would be.
	Changed int
	// Lasting counts the lists of nodes that outlive their processes, and Ephemeral those of
	// nodes that tell as whom a running process logs in; both as the last pass has found them.
	Lasting, Ephemeral Count
	// Waiting are nodes of processes that have to be restarted before the next step, because they
	// log in as the former user, or have him in their grants: for Add those that do not know the
	// new user, for Remove all.
	Waiting Sample
	// Denied are nodes whose lists cannot be read or changed.
	Denied Sample
}

// Count is how many lists have the former user alone, both, and the new user alone. Lists with
// neither do not count.
type Count struct{ Former, Both, New int }

func (c *Count) add(former, isNew bool) {
	switch {
	case former && isNew:
		c.Both++
	case former:
		c.Former++
	case isNew:
		c.New++
	}
}

// Sample is how many nodes there are of a kind, and the paths of some.
type Sample struct {
	Count int
	Paths []string // at most 20
}

func (s *Sample) add(path string) {
	const most = 20
	s.Count++
	if len(s.Paths) < most {
		s.Paths = append(s.Paths, path)
	}
}

// String is the number and the first path.
func (s Sample) String() string {
	if len(s.Paths) == 0 {
		return fmt.Sprint(s.Count)
	}
	return fmt.Sprintf("%d, such as %q", s.Count, s.Paths[0])
}

// Look counts, and changes nothing. Waiting is as Remove has it.
//
// Errors: ErrDenied of coord, with the report; those of a read.
func (c Change) Look(ctx context.Context, lists Lists) (Report, error) {
	p := pass{change: c, lists: lists, remove: true, options: Options{DryRun: true}}
	err := p.run(ctx)
	p.report.Changed = 0
	return p.report, err
}

// Add gives the new user all that the former one may do, on every node that outlives its
// process, again until a pass finds nothing to do. It leaves the nodes of processes alone,
// because these tell who they are: Waiting are those of processes that know the former user
// alone. While there are any, it ends after one pass, and has to be repeated when they were
// restarted.
//
// Errors: coord.ErrDenied if some lists cannot be read or changed; ErrUnsettled; those of a read
// and of a commit. The report is what was done before.
func (c Change) Add(ctx context.Context, lists Lists, o Options) (Report, error) {
	if err := c.check(lists); err != nil {
		return Report{}, err
	}
	return c.repeat(ctx, lists, o, false)
}

// Remove takes the former user out of all lists, again until a pass finds nothing to do. Where
// the new user is not in a list yet, he takes the place of the former one in the same step, so
// that no node is ever without its user.
//
// Errors: ErrInUse, before anything is changed, or if such a process comes meanwhile; ErrLockout;
// those of Add.
func (c Change) Remove(ctx context.Context, lists Lists, o Options) (Report, error) {
	if err := c.check(lists); err != nil {
		return Report{}, err
	}
	seen, err := c.Look(ctx, lists)
	if err == nil && seen.Waiting.Count > 0 {
		err = fmt.Errorf("%w: nodes of processes that know %s: %v", ErrInUse, name(c.From), seen.Waiting)
	}
	if err != nil {
		return seen, err
	}
	return c.repeat(ctx, lists, o, true)
}

func (c Change) check(lists Lists) error {
	if c.From == c.To || c.From == (zk.Identity{}) || c.To == (zk.Identity{}) {
		return fmt.Errorf("rights: change: From and To have to be two users")
	}
	if c.To != zk.Everybody() && !slices.Contains(lists.Identities(), c.To) {
		return fmt.Errorf("%w: log in as %s, too", ErrLockout, name(c.To))
	}
	return nil
}

// name is an identity without its hash.
func name(i zk.Identity) string {
	user, _, _ := strings.Cut(i.ID, ":")
	return fmt.Sprintf("%.60q", i.Scheme+":"+user)
}

// maxPasses bounds the passes of a step. Each finds only what was made during the one before.
const maxPasses = 10

func (c Change) repeat(ctx context.Context, lists Lists, o Options, remove bool) (Report, error) {
	var total Report
	for total.Passes < maxPasses {
		p := pass{change: c, lists: lists, options: o, remove: remove, report: Report{Changed: total.Changed, Passes: total.Passes}}
		err := p.run(ctx)
		total = p.report
		switch {
		case err != nil:
			return total, err
		case remove && total.Waiting.Count > 0:
			return total, fmt.Errorf("%w: nodes of processes that know %s: %v", ErrInUse, name(c.From), total.Waiting)
		case o.DryRun, !p.again, total.Waiting.Count > 0:
			return total, nil
		}
	}
	return total, fmt.Errorf("%w: pass %d still found some; a program that knows %s alone must be running", ErrUnsettled, maxPasses, name(c.From))
}

// added is a list in which the new user may do what the former one may. It is the same list if
// that is so already.
func (c Change) added(acl zk.ACL) zk.ACL {
	may, former := acl.Of(c.To), acl.Of(c.From)
	if former&^may == 0 {
		return acl
	}
	acl = slices.DeleteFunc(slices.Clone(acl), func(e zk.Entry) bool { return e.Identity == c.To })
	return append(acl, zk.Entry{Identity: c.To, Permissions: may | former})
}

// removed is a list in which the new user may do what the former one might, and the former one
// may do nothing.
func (c Change) removed(acl zk.ACL) zk.ACL {
	if acl.Of(c.From) == 0 {
		return acl
	}
	return slices.DeleteFunc(slices.Clone(c.added(acl)), func(e zk.Entry) bool { return e.Identity == c.From })
}

// pass is one walk over the namespace.
type pass struct {
	change  Change
	lists   Lists
	options Options
	remove  bool

	mu     sync.Mutex
	report Report
	again  bool  // something was to be changed
	err    error // the first of a write
}

const (
	// writers is how many lists are changed at once.
	writers = 64
	// progressEach is after how many nodes Progress is called.
	progressEach = 1000
)

func (p *pass) run(ctx context.Context) error {
	p.report.Passes++
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work := make(chan zk.Guarded)
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for g := range work {
				if err := p.set(ctx, g); err != nil {
					p.fail(err)
					cancel()
				}
			}
		})
	}
	readErr := p.read(ctx, work)
	close(work)
	writing.Wait()
	switch {
	case p.err != nil:
		return p.err
	case readErr != nil:
		return readErr
	case p.report.Denied.Count > 0:
		return fmt.Errorf("rights: %w: access lists that cannot be read or changed: %v; log in as who has Admin there, too", coord.ErrDenied, p.report.Denied)
	}
	return nil
}

// read looks at all nodes, and hands on those whose lists have to change.
func (p *pass) read(ctx context.Context, work chan<- zk.Guarded) error {
	for g, err := range p.lists.ACLs(ctx, "") {
		if err != nil {
			return fmt.Errorf("rights: %w", err)
		}
		if acl, changes := p.judge(g); changes && !p.options.DryRun {
			g.ACL = acl
			work <- g // the writers read until it is closed
		}
	}
	return nil
}

// judge counts a node, and returns the list that it is to have.
func (p *pass) judge(g zk.Guarded) (acl zk.ACL, changes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &p.report
	r.Nodes++
	if p.options.Progress != nil && r.Nodes%progressEach == 0 {
		defer func() { p.options.Progress(*r) }()
	}
	if g.Denied != nil {
		r.Denied.add(g.Path)
		return nil, false
	}
	count := &r.Lasting
	if g.Owner != 0 {
		count = &r.Ephemeral
	}
	count.add(g.ACL.Of(p.change.From) != 0, g.ACL.Of(p.change.To) != 0)
	change := p.change.added
	if p.remove {
		change = p.change.removed
	}
	acl = change(g.ACL)
	if slices.Equal(acl, g.ACL) {
		return nil, false
	}
	if g.Owner != 0 {
		r.Waiting.add(g.Path)
		return nil, false
	}
	p.again = true
	if p.options.DryRun {
		r.Changed++
	}
	return acl, true
}

// set changes one list. If the node has changed meanwhile, the next pass sees it.
func (p *pass) set(ctx context.Context, g zk.Guarded) error {
	err := p.lists.SetACL(ctx, g.Path, g.ACL, g.Version)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err == nil:
		p.report.Changed++
	case errors.Is(err, coord.ErrNoNode), errors.Is(err, coord.ErrVersion), errors.Is(err, coord.ErrUnknownOutcome):
	case errors.Is(err, coord.ErrDenied):
		p.report.Denied.add(g.Path)
	default:
		return fmt.Errorf("rights: %w", err)
	}
	return nil
}

func (p *pass) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}
