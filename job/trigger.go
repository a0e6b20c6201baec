package job

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/jobtype"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/clocks"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/internal/rest"
)

// TriggerRequest is what to run now.
type TriggerRequest struct {
	// Items to run; none means all, and in a broadcast job all that have an owner now. If an
	// item has none when its turn comes, its outcome is SKIPPED.
	Items []int
	// Instances whose items to run, by their ids; none means all. If Items are named too, an
	// item runs if it is one of them and belongs to one of these instances.
	Instances []string
	// Parameter replaces Config.JobParameter in these executions, if it is not empty. Up to
	// MaxTriggerParameter bytes.
	Parameter string
	// By says who asks, for people. It is cut after 255 bytes.
	By string
	// Key makes it safe to ask again, from whatever process, if it is not known whether a request was
	// made: two of a job with the same key are one. Any text of up to MaxRequestKey bytes that its maker
	// uses for nothing else; requests without one are never the same. It counts as long as the request
	// stands (see [AwaitRequest]): after that, it makes a new one.
	Key string
}

// MaxRequestKey bounds the key of a request, in bytes: 255.
const MaxRequestKey = 255

// MaxTriggerParameter bounds the parameter of a request, in bytes: 64 KiB.
const MaxTriggerParameter = jobtree.MaxRequestParameter

// Trigger asks the instances of the job to run items now, beside the schedule. Each item
// runs on its owner, whoever that is by then. Requests wait for an item in the order in which
// they were made, and each runs it with its own parameter: after the execution that is under
// way, and before the next tick. An execution that is cut short is run again if failover is
// on. Disabled items do not run; their outcome is SKIPPED. During a pause triggered items run.
//
// Trigger returns when the registry has the request, not when the items have run: see
// [TriggerResult.Wait]. What is in the registry survives the end of all processes.
//
// Errors: ErrKeyUsed; ErrNoItem; ErrNoInstance if there is no enabled Go member that could take an item, or if none of
// the instances that are named owns an item; ErrQueueFull, if 100 requests wait for an item or
// 1000 for the job; those of a commit. An item of a JVM member is given to that member in
// ElasticJob's way: it runs all of its items, without the parameter, and the outcome is
// SKIPPED. [TriggerResult].JVM and Beside say so in advance.
func (s *Scheduler) Trigger(ctx context.Context, r TriggerRequest) (*TriggerResult, error) {
	c := s.c
	return submit(ctx, c.reg, c.job, func(ctx context.Context) (*jobtree.State, error) {
		if err := c.view.Sync(ctx); err != nil {
			return nil, err
		}
		return jobtree.Read(c.view.Snapshot(), c.job), nil
	}, r)
}

// Trigger is [Scheduler.Trigger] for a program that has no scheduler of the job.
//
// Errors: coord.ErrNoNode if there is no such job.
func Trigger(ctx context.Context, reg coord.Registry, name string, r TriggerRequest) (*TriggerResult, error) {
	if !jobtree.IsName(name) {
		return nil, fmt.Errorf("job %s: trigger: the name is not one that a job can have: %w", quote(name), coord.ErrNoNode)
	}
	return submit(ctx, reg, jobtree.Job(name), func(ctx context.Context) (*jobtree.State, error) {
		return readState(ctx, reg, jobtree.Job(name))
	}, r)
}

// readState reads the tree of a job from the store.
func readState(ctx context.Context, reg coord.Registry, job jobtree.Job) (*jobtree.State, error) {
	tree := coord.NewTree()
	for n, err := range reg.Walk(ctx, job.Root()) {
		if err != nil {
			return nil, err
		}
		tree.Put(n)
	}
	s := jobtree.Read(tree.Snapshot(), job)
	if s.Config == nil {
		return nil, fmt.Errorf("%s: %w", job.Config(), coord.ErrNoNode)
	}
	return s, nil
}

// submitPatience is how often a request is tried that meets others.
const submitPatience = 30

// submit writes a request into the tree that read reads.
func submit(ctx context.Context, reg coord.Registry, job jobtree.Job, read func(context.Context) (*jobtree.State, error), r TriggerRequest) (*TriggerResult, error) {
	result, err := trySubmit(ctx, reg, job, read, r)
	if err != nil {
		return nil, fmt.Errorf("job %s: trigger: %w", job, err)
	}
	return result, nil
}

func trySubmit(ctx context.Context, reg coord.Registry, job jobtree.Job, read func(context.Context) (*jobtree.State, error), r TriggerRequest) (*TriggerResult, error) {
	unique, err := uniqueOf(r)
	if err != nil {
		return nil, err
	}
	if len(r.Parameter) > MaxTriggerParameter {
		return nil, fmt.Errorf("parameter: %d bytes, at most %d are allowed", len(r.Parameter), MaxTriggerParameter)
	}
	pause := firstPause
	for try := 1; ; try++ {
		s, err := read(ctx)
		if err != nil {
			return nil, err
		}
		if known, err := s.Submitted(unique); known != nil || err != nil { // or the answer to an attempt was lost
			return resultOf(s, known, reg, job), err
		}
		o, err := newOrder(s, r)
		if err != nil {
			return nil, err
		}
		if o.waitsForOwners() {
			if !rest.For(ctx, pause) {
				return nil, fmt.Errorf("items wait for an owner: %w", context.Cause(ctx))
			}
			pause, try = min(2*pause, lastPause), 0
			continue
		}
		document := jobtree.RequestDocument{Items: o.list(), Parameter: r.Parameter, Source: SourceManual.String(), By: r.By, At: timeAt(reg), Kept: true}
		if len(document.Items) == 0 {
			return nil, o.whyNobody()
		}
		id, ops, err := decide.Submit(s, job, document, unique)
		if err != nil {
			return nil, err
		}
		_, err = reg.Commit(ctx, ops...)
		if err == nil {
			return o.result(id, document.Items, reg, job), nil
		}
		if !errors.Is(err, coord.ErrConflict) && !errors.Is(err, coord.ErrUnknownOutcome) || try == submitPatience || !rest.For(ctx, pause/2+rand.N(pause/2)) {
			return nil, err
		}
		pause = min(2*pause, lastPause)
	}
}

// uniqueOf returns what keeps a request apart from others.
func uniqueOf(r TriggerRequest) (string, error) {
	if r.Key == "" {
		return newTaskID()
	}
	if len(r.Key) > MaxRequestKey {
		return "", fmt.Errorf("key: %d bytes, at most %d are allowed", len(r.Key), MaxRequestKey)
	}
	asked := fmt.Appendf(nil, "trigger %v %q %q", slices.Sorted(slices.Values(r.Items)), slices.Sorted(slices.Values(r.Instances)), r.Parameter)
	return jobtree.KeyedRequest(r.Key, asked), nil
}

// resultOf returns a request that stands there already; nil if there is none.
func resultOf(s *jobtree.State, r *jobtree.Request, reg coord.Registry, job jobtree.Job) *TriggerResult {
	if r == nil {
		return nil
	}
	result := (&order{state: s}).result(r.ID, r.Items, reg, job)
	result.WasThere = true
	return result
}

// result is the answer to the order.
func (o *order) result(id string, items []int, reg coord.Registry, job jobtree.Job) *TriggerResult {
	jvm, beside := o.state.OfJVM(items)
	return &TriggerResult{ID: id, Items: items, Instances: o.instances(items), JVM: jvm, Beside: beside, reg: reg, job: job}
}

// timeAt is the store's time if it is known, and else the local one.
func timeAt(reg coord.Registry) time.Time {
	if clock := reg.Clock(); clock.Known() {
		return clock.Now()
	}
	return clocks.Wall()
}

// order is a request together with the tree in which it is to be written.
type order struct {
	TriggerRequest
	state *jobtree.State
	label string // that an instance needs to be given items; "" if none
	total int
	items map[int]bool // TriggerRequest.Items
	// broadcast is whether items without an owner are as they should be.
	broadcast bool
}

// newOrder checks a request.
func newOrder(s *jobtree.State, r TriggerRequest) (*order, error) {
	o := &order{TriggerRequest: r, state: s, total: len(s.Items), items: map[int]bool{}}
	if s.Config != nil {
		if config, err := jobtype.DecodeConfig(s.Config.Value); err == nil {
			o.label, o.total, o.broadcast = config.Label, config.ShardingTotalCount, config.Broadcast
		}
	}
	for _, item := range r.Items {
		if item < 0 || item >= o.total {
			return nil, fmt.Errorf("%w: item %d: 0 to %d are allowed", ErrNoItem, item, o.total-1)
		}
		o.items[item] = true
	}
	if !o.mayHaveItems() {
		return nil, ErrNoInstance
	}
	return o, nil
}

// mayHaveItems reports whether some Go member may be given items.
func (o *order) mayHaveItems() bool {
	for id, in := range o.state.Instances {
		if o.state.Sessions[id] != nil && o.state.ServerEnabled(in.IP) && (o.label == "" || slices.Contains(in.Labels, o.label)) {
			return true
		}
	}
	return false
}

// waitsForOwners reports whether it matters who owns an item that will soon get another owner:
// it has none, or its owner has gone.
func (o *order) waitsForOwners() bool {
	if len(o.Instances) == 0 || o.broadcast {
		return false
	}
	for i := range o.total {
		if len(o.Items) > 0 && !o.items[i] {
			continue
		}
		item := o.state.Item(i)
		if item.Running != nil {
			continue
		}
		if item.Owner == nil {
			return true
		}
		if _, isThere := o.state.Instances[item.Owner.ID]; !isThere {
			return true
		}
	}
	return false
}

// whyNobody says why there are no items to run.
func (o *order) whyNobody() error {
	for _, id := range o.Instances {
		if _, isThere := o.state.Instances[id]; !isThere {
			return fmt.Errorf("%w: instance %s is not there", ErrNoInstance, quote(id))
		}
	}
	if len(o.Instances) > 0 {
		return fmt.Errorf("%w: instance %s has none of the items", ErrNoInstance, quote(o.Instances[0]))
	}
	return ErrNoInstance
}

// list returns the items to run.
func (o *order) list() []int {
	var list []int
	for i := range o.total {
		if len(o.Items) == 0 && o.broadcast && o.ownerOf(i) == "" {
			continue
		}
		if (len(o.Items) == 0 || o.items[i]) && (len(o.Instances) == 0 || slices.Contains(o.Instances, o.ownerOf(i))) {
			list = append(list, i)
		}
	}
	return list
}

// ownerOf returns the id of an item's owner; "" if it has none.
func (o *order) ownerOf(i int) string {
	if owner := o.state.Item(i).Owner; owner != nil {
		return owner.ID
	}
	return ""
}

// instances returns the owners of items.
func (o *order) instances(items []int) (ids []string) {
	for _, i := range items {
		if id := o.ownerOf(i); id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
