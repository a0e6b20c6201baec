package migrate

import (
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// settle ends, in a copy of a job's tree, what its instances have left: as the next leader would if all
// of them had ended. Items whose run was cut short wait to be run again, unless the job has no failover or
// the run was killed; their parts of requests go on, or end. So nothing names an execution by its fencing
// token any more. Tokens of the target are other ones.
func settle(tree *coord.Tree, name jobtree.Job, c jobtype.Config, now time.Time) *jobtree.State {
	for _, path := range []string{name.Instances(), name.Sessions()} {
		removeTree(tree, path)
	}
	world := &decide.World{
		State: jobtree.Read(tree.Snapshot(), name), Job: name, Now: now,
		Rules: &decide.Rules{Name: c.Name, Total: c.ShardingTotalCount, Failover: c.Failover, Once: true},
	}
	for _, change := range world.MarkForFailover(world.Orphans()) {
		for _, op := range change.Ops {
			apply(tree, op)
		}
	}
	return jobtree.Read(tree.Snapshot(), name)
}

// apply does what an operation of a commit does. Its conditions speak of this very tree, so they hold.
func apply(tree *coord.Tree, op coord.Op) {
	switch op.Kind {
	case coord.OpCreate, coord.OpPut, coord.OpSet, coord.OpSetAt:
		tree.Put(coord.Node{Path: op.Path, Value: op.Value})
	case coord.OpDelete, coord.OpDeleteTree:
		removeTree(tree, op.Path)
	}
}

func removeTree(tree *coord.Tree, path string) {
	for n := range tree.Snapshot().All(path) {
		tree.Delete(n.Path)
	}
}
