package doctor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// Who is a JVM member, who leads, who is the clerk, and by which rules they share the job.
func TestWhoShares(t *testing.T) {
	for name, c := range map[string]struct {
		jvm  int
		want func(*fixture) []string
	}{
		"Go leads": {1, func(f *fixture) []string {
			return []string{"of 2 instances, 1 are JVM members: \"" + f.ids[1], "Go member \"" + f.ids[0] + "\" leads", "\"" + f.ids[0] + "\" is the clerk", "gate", "witness"}
		}},
		"a JVM leads": {0, func(f *fixture) []string {
			return []string{"JVM members: \"" + f.ids[0], "JVM member \"" + f.ids[0] + "\" leads", "\"" + f.ids[1] + "\" is the clerk", "yield", "tend", "witness"}
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
