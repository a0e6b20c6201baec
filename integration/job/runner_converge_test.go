package job_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
)

// Whatever happens to jobs and to the store, in the end a runner serves exactly the jobs that it
// can, refuses those that are wrong, and leaves those alone that are not its own.
func TestRunnerConverges(t *testing.T) {
	t.Parallel()
	kinds := []string{"create", "remove", "remove and create", "break", "restore", "rename to a", "rename to b", "rename to other", "expel", "expire", "cut", "heal", "wait"}
	step := rapid.Custom(func(t *rapid.T) [2]string {
		return [2]string{rapid.SampledFrom(kinds).Draw(t, "does"), rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "job")}
	})
	rapid.Check(t, func(rt *rapid.T) {
		plan := rapid.SliceOfN(step, 1, 30).Draw(rt, "plan")
		wrong := ""
		synctest.Test(t, func(t *testing.T) { wrong = converge(t, plan) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// converge makes steps, and says what is wrong in the end.
func converge(t *testing.T, plan [][2]string) string {
	s := newMemoryStore(t).(memoryStore)
	c := newCrew(t, s)
	r := c.start("10.0.0.1", job.RunnerConfig{Handlers: c.handlers("a", "b")})
	expelled := map[string]bool{}
	soon := func() { c.pass(time.Minute) }
	for _, step := range plan {
		does, name := step[0], step[1]
		node := jobtree.Job(name)
		isThere := c.tree(name).Config != nil
		switch does {
		case "remove", "remove and create":
			c.remove(name)
			delete(expelled, name)
			if does == "remove and create" {
				c.create(name, "b", cron(rarely))
			}
		case "create":
			if !isThere {
				c.create(name, "a", cron(rarely))
			}
		case "break":
			if isThere {
				c.commit(coord.Set(node.Config(), []byte("{")))
			}
		case "restore":
			if isThere {
				c.commit(c.creation(name, "")[1])
			}
		case "rename to a", "rename to b", "rename to other":
			if isThere {
				c.commit(coord.Set(name, []byte(strings.TrimPrefix(does, "rename to "))))
			}
		case "expel": // which is for an instance that looks on
			r.link.Heal()
			soon()
			if running := r.Job(name); running != nil {
				c.commit(coord.Delete(node.Instance(running.Status().InstanceID)))
				expelled[name] = true
				soon()
			}
		case "expire":
			s.Expire(ownerOfSign(c))
		case "cut":
			r.link.BlackHole()
		case "heal":
			r.link.Heal()
		case "wait":
			soon()
		}
		c.must(c.all.Sync(t.Context()))
	}
	r.link.Heal()
	c.pass(6 * time.Minute)
	var refused []string
	for _, name := range []string{"x", "y", "z"} {
		tree := c.tree(name)
		isOffered := tree.Config != nil && slices.Contains([]string{"a", "b"}, tree.Implementation)
		isWrong := isOffered && string(tree.Config.Value) == "{"
		isServed := r.Job(name) != nil && r.Job(name).Status().Registered && len(tree.Instances) == 1
		switch {
		case isServed && (!isOffered || expelled[name]):
			return fmt.Sprintf("%s is served: %q, expelled %v", name, tree.Implementation, expelled[name])
		case isOffered && !isWrong && !expelled[name] && !isServed:
			return fmt.Sprintf("%s is not served: %v, %d instances, refused %v", name, r.Job(name), len(tree.Instances), r.Refused())
		case isWrong && !expelled[name] && !isServed: // a scheduler that runs goes by the last configuration that was good
			refused = append(refused, name)
		}
		if told := len(c.faults(name)) > 0; told != (isWrong && !expelled[name]) || tree.Config == nil && tree.Exists {
			return fmt.Sprintf("%s: %v in its tree", name, c.faults(name))
		}
	}
	var got []string
	for _, f := range r.Refused() {
		got = append(got, f.Job)
	}
	if !slices.Equal(got, refused) {
		return fmt.Sprintf("it refuses %v and not %v", r.Refused(), refused)
	}
	return ""
}

// ownerOfSign returns the session of the runner.
func ownerOfSign(c *crew) coord.SessionID {
	for n := range c.all.Snapshot().All(jobtree.Nodes) {
		if n.Owner != 0 {
			return n.Owner
		}
	}
	return 0
}
