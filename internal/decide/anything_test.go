package decide_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/decide"
)

// TestStepsAreContentWithAnything: whatever stands in the tree, also what no program would
// write, no step fails on it, and what each wants is a commit that a store takes, in the
// job's own tree.
func TestStepsAreContentWithAnything(t *testing.T) {
	paths := []string{
		"sharding/%d/instance", "sharding/%d/running", "sharding/%d/fired", "sharding/%d/misfire", "sharding/%d/disabled",
		"sharding/%d/failover", "sharding/%d/failovering", "sharding/%d", "leader/failover/items/%d",
	}
	values := []string{"", "A", "B", "X", jvm, other, "2026-01-05T10:00:00.000Z", "2026-01-05T10:00:05.000Z 2026-01-05T10:00:04.000Z", "\x00", "2026"}
	rapid.Check(t, func(r *rapid.T) {
		f := given(t, func(rules *decide.Rules) {
			rules.Total = rapid.IntRange(1, 4).Draw(r, "total")
			rules.Monitor = rapid.IntRange(0, 4).Draw(r, "monitor") > 0
			rules.Failover = rules.Monitor && rapid.Bool().Draw(r, "failover")
			rules.Misfire = rapid.Bool().Draw(r, "misfire")
			rules.StaticSharding = rapid.Bool().Draw(r, "static")
			rules.Broadcast = rapid.IntRange(0, 3).Draw(r, "broadcast") == 0
			if rapid.IntRange(0, 2).Draw(r, "expires") == 0 {
				rules.ExpiresAt, rules.RemoveExpired = tick(1), true
			}
		})
		if rapid.IntRange(0, 3).Draw(r, "members") > 0 {
			f.members("A", "B")
			if rapid.Bool().Draw(r, "mixed") {
				f.jvms(jvm)
			}
			if leader := rapid.SampledFrom([]string{"", "A", jvm}).Draw(r, "leader"); leader == "A" || leader != "" && f.pass("A").IsMixed() {
				f.leader(leader)
			}
		}
		value := func() string { return rapid.SampledFrom(values).Draw(r, "value") }
		for range rapid.IntRange(0, 20).Draw(r, "nodes") {
			path := fmt.Sprintf(rapid.SampledFrom(paths).Draw(r, "path"), rapid.IntRange(0, 5).Draw(r, "item"))
			f.put(path, value())
		}
		for _, path := range []string{
			"trigger/A", "trigger/X", "servers/host-A", "servers/host-X", "leader/sharding/necessary", "leader/sharding/processing", "schedule",
			"sessions/A", "instances/X", "leader/election/instance",
		} {
			if rapid.IntRange(0, 3).Draw(r, path) == 0 {
				f.put(path, value())
			}
		}
		f.now = tick(rapid.IntRange(0, 3).Draw(r, "now"))
		if rapid.Bool().Draw(r, "it has looked before") {
			f.pass("A")
			f.now = f.now.Add(time.Duration(rapid.IntRange(0, 6000).Draw(r, "ago")) * time.Millisecond)
		}
		if rapid.Bool().Draw(r, "the store's clock is known") {
			f.ahead(0)
		}
		for _, c := range allChanges(f.pass("A")) {
			if err := coord.ValidateCommit(c.Ops...); err != nil {
				r.Fatalf("%s: %v", c.Step, err)
			}
			for _, op := range c.Ops {
				if op.Kind.Writes() && !coord.Within(op.Path, f.job.Root()) && op.Path != f.job.Removal() {
					r.Fatalf("%s writes %s", c.Step, op.Path)
				}
			}
		}
	})
}

// allChanges asks every step.
func allChanges(p pass) []decide.Change {
	var changes []decide.Change
	want := func(more ...decide.Change) { changes = append(changes, more...) }
	want(registers(p)...)
	want(p.FenceRegistration())
	want(one(p.Announce())...)
	want(elects(p)...)
	want(one(p.Abdicate())...)
	want(stepsDown(p)...)
	want(p.Deregister(false))
	want(p.LeaveInOneCommit())
	want(founds(p)...)
	want(puts(p)...)
	want(recovers(p)...)
	want(witnesses(p)...)
	want(unmarks(p)...)
	if p.NeedsReshard() {
		want(p.RequestReshard())
	}
	want(tidies(p)...)
	want(cleans(p)...)
	want(p.Sweep()...)
	want(rewinds(p)...)
	want(expires(p)...)
	want(assigns(p)...)
	want(p.Assign(p.Spread())...)
	want(fires(p)...)
	want(takesOver(p)...)
	want(begins(p)...)
	want(p.EndRequests()...)
	want(settles(p)...)
	want(obeys(p)...)
	inherits, _ := p.AdoptTrigger(func(string) bool { return true }, "u") // the error is about the trigger, for the log
	want(one(inherits)...)

	p.FireUnmonitored(p.work, decide.Unmonitored{Last: begin, Missed: map[int]bool{0: true}})
	p.RequestedHere(p.work)
	p.StalledElsewhere(p.work)
	p.LacksItem()
	p.AnyJVM()
	p.FutureTimes(p.work)
	p.StillWaiting(p.work, p.Due(p.work), 0)

	// As if all that has a record ran here.
	for i := range p.Items {
		if fired := p.Items[i].Fired; fired != nil {
			p.work.Runs[i] = &decide.Run{Claim: decide.Claim{Item: i}, Token: fired.Modified, Instance: "A", Recorded: true}
		}
	}
	want(fires(p)...)
	want(finishes(p)...)
	want(restores(p)...)
	want(p.ReleaseForFailover(p.fixture.runs())...)
	want(p.ReleaseClaims(p.fixture.runs())...)
	return changes
}
