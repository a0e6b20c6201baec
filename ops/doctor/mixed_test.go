package doctor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// Who is a JVM member, who leads, who is the coordinator, and by which rules they share the job.
func TestWhoShares(t *testing.T) {
	for name, c := range map[string]struct {
		jvm  int
		want func(*fixture) []string
	}{
		"Go leads": {1, func(f *fixture) []string {
			return []string{"of 2 instances, 1 are JVM members: \"" + f.ids[1], "Go member \"" + f.ids[0] + "\" leads", "\"" + f.ids[0] + "\" is the coordinator", "gated moves", "record JVM runs"}
		}},
		"a JVM leads": {0, func(f *fixture) []string {
			return []string{"JVM members: \"" + f.ids[0], "JVM member \"" + f.ids[0] + "\" leads", "\"" + f.ids[1] + "\" is the coordinator", "pause while a JVM reshards", "complete what a JVM leaves", "record JVM runs"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inGoodHealth(t, func(f *fixture) {
				f.isJVM(c.jvm)
				found := f.finds(doctor.Mixed).Findings[0]
				for _, want := range c.want(f) {
					if !strings.Contains(found.Cause, want) {
						t.Errorf("%q has no %q", found.Cause, want)
					}
				}
				if found.Severity != doctor.Info {
					t.Errorf("%v", found.Severity)
				}
			})
		})
	}
}

// A job by a name that no Go job can have is its JVM members' as long as one of them lives, and nobody is told
// to remove what runs.
func TestWhatOnlyJVMMembersCanHave(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		const name = jobtree.Job("订单任务")
		f.commit(coord.Put(name.Config(), []byte("jobName: x\n")), coord.Put(name.ItemInstance(0), []byte("10.0.0.9@-@1")),
			coord.CreateEphemeral(name.Instance("10.0.0.9@-@1"), nil), coord.CreateEphemeral(name.Running(0), nil))
		found := f.finds(doctor.JVMOnly).Findings[0]
		if found.Job != string(name) || found.Severity != doctor.Info || !strings.Contains(found.Cause, "of which 1 live and run 1 items") || strings.Contains(found.Advice, "remove") {
			t.Errorf("%+v", found)
		}
		f.commit(coord.DeleteTree(name.Instance("10.0.0.9@-@1")), coord.DeleteTree(name.Running(0)))
		if found := f.finds(doctor.UnusableName).Findings[0]; !strings.Contains(found.Advice, "leave it if a JVM is to run it again") {
			t.Errorf("%+v", found)
		}
	})
}

// Each thing that does harm is a finding of its own, with what a JVM does and what to do.
func TestWhatJVMMembersDoOtherwise(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		f.configure(func(c *job.Config) { c.Timeout, c.Threads = time.Minute, 9 })
		f.isJVM(1)
		report := f.finds(doctor.Mixed, doctor.MixedJVM)
		if found := report.Findings[0]; found.Severity != doctor.Warning || found.Instance != f.ids[1] ||
			!strings.Contains(found.Cause, "props: execution.timeout.seconds: JVM members run an item as long as it takes; so items") || found.Advice == "" {
			t.Errorf("%v", found)
		}
	})
}

// A member of elastic-job 2.1 cannot start with a document that Go has written, and leaves nothing then: what it has
// left before is a hint.
func TestMembersOf2(t *testing.T) {
	inGoodHealth(t, func(f *fixture) {
		f.commit(coord.Put(f.job.Server("10.0.0.9"), nil))
		found := f.finds(doctor.MixedJVM).Findings[0]
		if found.Severity != doctor.Info || !strings.Contains(found.Cause, `elastic-job 2.1 ("10.0.0.9") do not read a document of ElasticJob 3.0`) || !strings.Contains(found.Advice, "clear these servers") {
			t.Errorf("%v", found)
		}
		f.isJVM(1)
		f.commit(coord.Put(f.job.Instance(f.ids[1]), nil), coord.Put(f.job.Server(f.ip(1)), nil), coord.DeleteTree(f.job.Server("10.0.0.9")))
		found = f.finds(doctor.MixedJVM, effect(doctor.Mixed)).Findings[0]
		if found.Severity != doctor.Critical || !strings.Contains(found.Cause, `elastic-job 2.1 ("`+f.ids[1]+`") do not read`) || !strings.Contains(found.Cause, "do not start again") {
			t.Errorf("%v", found)
		}
	})
}

// As long as members of elastic-job 2.1 run a job by a document of theirs there is one advice, the order in which they
// go: whatever else there is to say of the configuration would have it written, which ends their work.
func TestMembersOf2WithTheirDocument(t *testing.T) {
	const keys = `{"jobName":"settle","jobClass":"settle","jobType":"SIMPLE","cron":"0 * * * * ?","shardingTotalCount":3`
	for name, c := range map[string]struct {
		document string
		jvm      []int
		effects  []doctor.Kind
	}{
		"alone":                        {keys + "}", []int{0, 1}, nil},
		"alone, and we cannot read it": {keys + `,"failover":true,"monitorExecution":false}`, []int{0, 1}, []doctor.Kind{doctor.ConfigUnreadable}},
		"beside a Go member":           {keys + "}", []int{1}, []doctor.Kind{doctor.Mixed, doctor.ConfigDiffers}},
	} {
		t.Run(name, func(t *testing.T) {
			inGoodHealth(t, func(f *fixture) {
				f.commit(coord.Put(f.job.Config(), []byte(c.document)))
				accepted := f.get(f.job.Config()).Modified
				f.says(0, func(d *jobtree.SessionDocument) {
					d.Accepted, d.Differs = accepted, "cron\t\"1 * * * * ?\"\t\"0 * * * * ?\""
				})
				f.inForce(func(d *jobtree.ScheduleDocument) { d.TimeZone = "" })
				for _, n := range c.jvm {
					f.isJVM(n)
					f.commit(coord.Put(f.job.Instance(f.ids[n]), nil), coord.Put(f.job.Server(f.ip(n)), nil))
				}
				want := []doctor.Kind{doctor.MixedJVM}
				for _, k := range c.effects {
					want = append(want, effect(k))
				}
				found := f.finds(want...).Findings[0]
				if found.Severity != doctor.Warning || found.Command != "" || !strings.Contains(found.Cause, "members of elastic-job 2.1 run the job") ||
					!strings.Contains(found.Cause, f.ids[1]) || !strings.HasPrefix(found.Advice, "stop the members of 2.1 first") {
					t.Errorf("%v", found)
				}
			})
		})
	}
}
