package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/integration/history"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// tampering is a change of a job's tree that no rule allows.
type tampering struct {
	name string
	// write makes the change. state is the job's tree before it, item one of its items.
	write func(v vandal, j jobtree.Job, state *jobtree.State, item int) error
}

// vandal writes and erases nodes of a namespace.
type vandal struct {
	ctx     context.Context
	c       *Cluster
	written *[]string // the paths of what he wrote
}

func (v vandal) write(path string, value []byte) error {
	*v.written = append(*v.written, path)
	return v.c.store.Write(v.ctx, v.c.namespace+"/"+path, value)
}

func (v vandal) erase(path string) error {
	return v.c.store.Erase(v.ctx, v.c.namespace+"/"+path)
}

// replace writes a persistent node where another one is.
func (v vandal) replace(path string, value []byte) error {
	*v.written = append(*v.written, path)
	return v.c.store.Replace(v.ctx, v.c.namespace+"/"+path, value)
}

// someone is the id of an instance.
func someone(state *jobtree.State) string {
	if ids := slices.Sorted(maps.Keys(state.Sessions)); len(ids) > 0 {
		return ids[0]
	}
	return ghost
}

// ghost is the id of an instance that does not exist.
const ghost = "10.9.9.9@-@1-gone"

// badItems is how many items, none of which exists, one of the triggers names.
const badItems = 100_000

// tamperings are all changes that a scenario or a soak makes. One that a store cannot hold
// is left out there.
var tamperings = []tampering{
	{"a child below running", func(v vandal, j jobtree.Job, _ *jobtree.State, item int) error {
		return v.write(j.Running(item)+"/x", nil)
	}},
	{history.WaitingItem, func(v vandal, j jobtree.Job, _ *jobtree.State, item int) error {
		return v.write(j.FailoverItem(item)+"/x", nil)
	}},
	{"a child below an instance", func(v vandal, j jobtree.Job, state *jobtree.State, _ int) error {
		return v.write(j.Instance(someone(state))+"/x", nil)
	}},
	{"a child below a session", func(v vandal, j jobtree.Job, state *jobtree.State, _ int) error {
		return v.write(j.Session(someone(state))+"/x", nil)
	}},
	{"a child below the leader", func(v vandal, j jobtree.Job, _ *jobtree.State, _ int) error {
		return v.write(j.LeaderInstance()+"/x", nil)
	}},
	{"a trigger with control characters", func(v vandal, j jobtree.Job, _ *jobtree.State, _ int) error {
		return v.write(j.Trigger("a\x01b"), nil)
	}},
	{"a trigger named ..", func(v vandal, j jobtree.Job, _ *jobtree.State, _ int) error {
		return v.write(j.Trigger(".."), nil)
	}},
	{"a trigger that is no text", func(v vandal, j jobtree.Job, _ *jobtree.State, _ int) error {
		return v.write(j.Trigger("a\xff"), nil)
	}},
	{"a trigger with a long name", func(v vandal, j jobtree.Job, _ *jobtree.State, _ int) error {
		return v.write(j.Trigger(strings.Repeat("n", 1100)), nil)
	}},
	{"a trigger with children", func(v vandal, j jobtree.Job, _ *jobtree.State, _ int) error {
		return v.write(j.Trigger("parent")+"/child", nil)
	}},
	{"a trigger with bad items", func(v vandal, j jobtree.Job, state *jobtree.State, _ int) error {
		return v.write(j.Trigger(someone(state)), []byte("items: ["+strings.Repeat("77777, ", badItems)+"77777]"))
	}},
	{"an instance and a session of nobody", func(v vandal, j jobtree.Job, _ *jobtree.State, _ int) error {
		value := []byte("jobInstanceId: " + ghost + "\nserverIp: 10.9.9.9\n")
		return errors.Join(v.write(j.Instance(ghost), value), v.write(j.Session(ghost), nil))
	}},
	{"a leader that is nobody", func(v vandal, j jobtree.Job, _ *jobtree.State, _ int) error {
		return v.replace(j.LeaderInstance(), []byte(ghost))
	}},
	{"a session removed", func(v vandal, j jobtree.Job, state *jobtree.State, _ int) error {
		return v.erase(j.Session(someone(state)))
	}},
	{"an instance rewritten", func(v vandal, j jobtree.Job, state *jobtree.State, _ int) error {
		path := j.Instance(someone(state))
		node, err := v.c.reg.Get(v.ctx, path)
		if errors.Is(err, coord.ErrNoNode) {
			return nil
		}
		return errors.Join(err, v.replace(path, node.Value))
	}},
	{"running removed", func(v vandal, j jobtree.Job, _ *jobtree.State, item int) error {
		return v.erase(j.Running(item))
	}},
	{"fired in the year 9999", func(v vandal, j jobtree.Job, _ *jobtree.State, item int) error {
		return v.write(j.Fired(item), jobtree.EncodeFired(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)))
	}},
	{"a node that only somebody else may read", func(v vandal, j jobtree.Job, _ *jobtree.State, item int) error {
		*v.written = append(*v.written, j.Item(item)+"/secret")
		return v.c.store.Forbid(v.ctx, v.c.namespace+"/"+j.Item(item)+"/secret")
	}},
}

// Tamperings are the names of what Tamper can do.
func Tamperings() []string {
	var names []string
	for _, t := range tamperings {
		names = append(names, t.name)
	}
	return names
}

// Tamper makes one of the [Tamperings] in the tree of a job, and returns the function that
// undoes it. Call that function after an error too. can is false if the store cannot hold
// the change.
func (c *Cluster) Tamper(ctx context.Context, name, job string, item int) (mend func(context.Context) error, can bool, err error) {
	at := slices.IndexFunc(tamperings, func(t tampering) bool { return t.name == name })
	if at < 0 {
		return nil, false, fmt.Errorf("cluster: nobody knows how to tamper with %q", name)
	}
	j, can := jobtree.Job(job), true
	var written []string
	var late context.Context // of the call of mend
	heal, err := c.Trouble(name, func() error {
		return c.tampered(name, job, item, func() error {
			err := tamperings[at].write(vandal{ctx, c, &written}, j, jobtree.Read(c.view.Snapshot(), j), item)
			if errors.Is(err, errors.ErrUnsupported) {
				can, err = false, nil
			}
			return err
		})
	}, func() error {
		return c.tampered(name, job, item, func() error {
			var errs []error
			for _, path := range written {
				node, err := c.reg.Get(late, path)
				if path == j.Fired(item) || err == nil && node.Ephemeral() {
					continue // instances have mended it, or have to
				}
				errs = append(errs, vandal{late, c, nil}.erase(path))
			}
			return errors.Join(errs...)
		})
	})
	return func(ctx context.Context) error { late = ctx; return heal() }, can, err
}

// tampered writes down what is done to the tree of a job.
func (c *Cluster) tampered(name, job string, item int, do func() error) error {
	call := history.Mono()
	err := do()
	e := history.Now(history.Tamper)
	e.Job, e.Item, e.Name, e.Call = job, item, name, call
	c.add(e)
	return err
}
