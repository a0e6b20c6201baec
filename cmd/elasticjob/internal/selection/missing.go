package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/usage"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Missing adds to the error that there is no such job how it was removed, or the names of similar jobs. asked is the job
// that the command is about; empty if it is about none. flags are those of the store, for commands that are advised.
func Missing(ctx context.Context, reg coord.Registry, asked, flags string, err error) error {
	if asked == "" || !errors.Is(err, ops.ErrNoJob) {
		return err
	}
	if removed := removal(ctx, reg, asked, flags); removed != "" {
		return fmt.Errorf("%w; %s", err, removed)
	}
	names, listing := Names(ctx, reg)
	if listing != nil || slices.Contains(names, asked) { // it is being moved, say
		return err // that there is no such job is what matters
	}
	return fmt.Errorf("%w%s", err, usage.DidYouMean(brief.Similar(asked, names)))
}

// removal says who has removed a job and what brings it back; empty if the namespace does not tell.
func removal(ctx context.Context, reg coord.Registry, name, flags string) string {
	if !isJob(name) {
		return ""
	}
	n, err := reg.Get(ctx, jobtree.Job(name).Removal())
	if err != nil {
		return "" // there is none, or it cannot be read: that there is no such job is what matters
	}
	d, err := jobtree.DecodeRemoval(n.Value)
	switch {
	case err != nil || d.Migration != "":
		return "" // elasticjob removed and elasticjob migrate say more
	case d.MovedTo != "":
		return fmt.Sprintf("it was moved to %s, %s", brief.Quote(d.MovedTo), d)
	}
	return fmt.Sprintf("it was removed %s; elasticjob%[2]s create %[3]s creates it again, and elasticjob%[2]s readmit %[3]s lets programs do so", d, flags, name)
}

// Names returns the names of all jobs of a namespace, ascending.
func Names(ctx context.Context, reg coord.Registry) ([]string, error) {
	nodes, err := reg.List(ctx, "")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range nodes {
		if name := coord.Base(n.Path); isJob(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// isJob reports whether a job can have the name: the namespace keeps other things, too.
func isJob(name string) bool {
	return jobtype.Config{Name: name, ShardingTotalCount: 1}.Validate() == nil
}

// Elsewhere says which jobs of a history the namespace does not have; empty if it has them all. The tables of the history
// have no namespaces, so a database shows what all have that write to it.
func Elsewhere(ctx context.Context, reg coord.Registry, namespace string, jobs []string) string {
	var asked, paths []string
	for _, job := range slices.Compact(slices.Sorted(slices.Values(jobs))) {
		if isJob(job) {
			asked, paths = append(asked, job), append(paths, jobtree.Job(job).Config())
		}
	}
	var list brief.List
	i := 0
	for _, err := range reg.GetAll(ctx, paths) {
		if i < len(asked) && errors.Is(err, coord.ErrNoNode) { // of any other error the commands about jobs tell
			list.Add(asked[i])
		}
		i++
	}
	if list.Empty() {
		return ""
	}
	return fmt.Sprintf("The namespace %s has no job %v now: the history does not tell namespaces apart, and is of all that write to its database.", namespace, &list)
}
