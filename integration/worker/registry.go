package worker

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/etcd"
	"github.com/elasticjob-go/elasticjob/coord/zk"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// dialTimeout is long, because the machine may be busy with other tests.
const dialTimeout = 20 * time.Second

// Dial opens a registry of the kind that the configuration names.
func Dial(ctx context.Context, c Config, log *zap.Logger) (reg coord.Registry, err error) {
	switch c.Store {
	case Etcd:
		reg, err = etcd.Dial(ctx, etcd.Config{
			Endpoints: c.Servers, Namespace: c.Namespace, SessionTimeout: c.SessionTimeout, DialTimeout: dialTimeout,
			RequestTimeout: c.SessionTimeout / 2, Username: c.User, Password: c.Password, Logger: log,
		})
	case ZooKeeper:
		reg, err = zk.Dial(ctx, zk.Config{
			Servers: c.Servers, Namespace: c.Namespace, SessionTimeout: c.SessionTimeout, DialTimeout: dialTimeout,
			RequestTimeout: c.SessionTimeout / 2, Logger: log,
		})
	default:
		err = fmt.Errorf("worker: store %q: %s and %s are allowed", c.Store, Etcd, ZooKeeper)
	}
	if err != nil {
		return nil, err // not reg: as an interface, a nil pointer would not be nil
	}
	return reg, nil
}

// recorder writes down what the registry answers to commits that begin, end or hand over
// items, and when it takes long to answer anything else.
type recorder struct {
	coord.Registry
	log   *history.Log
	views *atomic.Int64 // that are open
}

func (r recorder) Commit(ctx context.Context, ops ...coord.Op) (int64, error) {
	call := history.Mono()
	revision, err := r.Registry.Commit(ctx, ops...)
	e, about := describe(ops)
	if !about {
		r.log.Took(call)
		return revision, err
	}
	now := history.Now(history.Commit)
	e.Kind, e.Item, e.Mono, e.Wall = now.Kind, now.Item, now.Mono, now.Wall
	e.Call, e.Token = call, revision
	if err != nil {
		e.Err = err.Error()
	}
	r.log.Add(e)
	return revision, err
}

func (r recorder) Get(ctx context.Context, path string) (coord.Node, error) {
	defer r.log.Took(history.Mono())
	return r.Registry.Get(ctx, path)
}

func (r recorder) View(ctx context.Context, path string, depth int, bounds ...coord.Bounds) (coord.View, error) {
	defer r.log.Took(history.Mono())
	view, err := r.Registry.View(ctx, path, depth, bounds...)
	if err != nil {
		return nil, err
	}
	r.views.Add(1) // until it is closed
	return recordedView{view, r, sync.OnceFunc(func() { r.views.Add(-1) })}, nil
}

type recordedView struct {
	coord.View
	recorder
	closed func()
}

func (v recordedView) Close() {
	v.View.Close()
	v.closed()
}

func (v recordedView) Sync(ctx context.Context) error {
	defer v.recorder.log.Took(history.Mono())
	return v.View.Sync(ctx)
}

// describe says which items a commit begins, ends or puts up for others, what it tells of
// executions, and whose session it requires. It begins an item if it writes the fired record, and
// writes the running record or requires that it exists, and lets it stand.
func describe(ops []coord.Op) (e history.Event, about bool) {
	type item struct {
		ended, runs, gone, put bool
		fired                  *coord.Op
		request                string
	}
	items := map[int]*item{}
	var order []int
	of := func(name string) *item {
		i, ok := jobtree.ParseItem(name)
		if !ok {
			return &item{}
		}
		if items[i] == nil {
			items[i] = &item{}
			order = append(order, i)
		}
		return items[i]
	}
	for _, op := range ops {
		segments := strings.Split(op.Path, "/")
		e.Job = segments[0]
		switch rest := segments[1:]; {
		case len(rest) == 3 && rest[0] == "sharding" && rest[2] == "running":
			it := of(rest[1])
			switch op.Kind {
			case coord.OpCreate, coord.OpCreateEphemeral, coord.OpExists:
				it.runs = true
			case coord.OpSet, coord.OpPut:
				it.runs, it.ended = true, true
			case coord.OpDelete, coord.OpDeleteTree:
				it.ended, it.gone = true, true
			}
		case len(rest) == 2 && rest[0] == "sessions" && op.Kind == coord.OpOwned && e.Instance == "":
			e.Instance = rest[1]
		case len(rest) == 3 && rest[0] == "sharding" && rest[2] == "fired" && op.Kind.Writes():
			of(rest[1]).fired = &op
		case len(rest) == 3 && rest[0] == "sharding" && rest[2] == "completed" && op.Kind.Writes():
			if i, ok := jobtree.ParseItem(rest[1]); ok {
				if d, err := jobtree.DecodeCompletion(op.Value); err == nil {
					e.Told = append(e.Told, history.Told{Item: i, Token: d.Token, Outcome: string(d.Outcome)})
				}
			}
		case len(rest) == 3 && rest[0] == "requests" && op.Kind.Writes() && bytes.HasPrefix(op.Value, []byte("runner: ")):
			of(rest[2]).request = rest[1]
		case len(rest) == 4 && strings.Join(rest[:3], "/") == "leader/failover/items" && op.Kind == coord.OpPut:
			of(rest[3]).put = true
		}
	}
	for _, i := range order {
		it := items[i]
		if it.runs && !it.gone && it.fired != nil {
			e.Claims = append(e.Claims, history.Claim{Item: i, Tick: claimed(it.fired.Value), Request: it.request})
		}
		if it.ended {
			e.Ends = append(e.Ends, i)
		}
		if it.put {
			e.Waits = append(e.Waits, i)
		}
	}
	slices.Sort(e.Ends)
	return e, len(e.Claims)+len(e.Ends)+len(e.Waits)+len(e.Told) > 0
}

// claimed is the tick that a claim is for: the last one in the fired record.
func claimed(value []byte) time.Time {
	tick, err := jobtree.DecodeFired(value[bytes.LastIndexByte(value, ' ')+1:])
	if err != nil {
		return time.Time{} // the history shows the zero time
	}
	return tick
}
