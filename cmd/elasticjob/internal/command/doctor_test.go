package command

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// A finding has ten lines at most, also if it is of fifty instances and has many effects.
func TestFindingHasTenLines(t *testing.T) {
	effect := doctor.Effect{Kind: doctor.ItemOverdue, Severity: doctor.Critical, Instance: "10.0.0.1@-@1-a", More: 49, Items: []int{0, 1, 2}, MoreItems: 47, Cause: "they should have begun"}
	found := doctor.Finding{
		Kind: doctor.Faulty, Severity: doctor.Critical, Job: "settle", Instance: "10.0.0.1@-@1-a", Path: "settle/faults/10.0.0.1@-@1-a", Others: make([]doctor.Place, 49),
		Since: time.Now(), Cause: "all threads are busy", Advice: "raise their number", Command: "elasticjob update settle", Effects: []doctor.Effect{effect, effect, effect, effect, effect, effect},
	}
	var out strings.Builder
	if err := (show.Printer{Out: &out, Format: show.TableFormat}).Print(findings(doctor.Report{Jobs: 1, Findings: []doctor.Finding{found}}, "shop")); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(out.String(), "\n\n")
	for _, want := range []string{
		"CRITICAL  fault  job settle  10.0.0.1@-@1-a  and 49 more  6 effects\n", `critical item-overdue instance "10.0.0.1@-@1-a" and 49 more items 0-2 and 47 more: "they should have begun"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "\n"); n > 10 {
		t.Errorf("%d lines:\n%s", n, text)
	}
}

// The doctor names fields as the registry does: update takes those that are no properties by these names.
func TestUpdateTakesFieldsOfTheRegistry(t *testing.T) {
	full := job.Config{
		Name: "settle", Cron: "0 0 4 * * ?", TimeZone: "UTC", ShardingTotalCount: 3, ShardingItemParameters: "0=A", JobParameter: "5", Description: "x", Label: "gpu",
		Strategy: "ROUND_ROBIN", ErrorHandler: "IGNORE", Failover: true, Misfire: job.Off, StaticSharding: true, Disabled: true,
		MaxTimeDiff: time.Minute, ReconcileInterval: time.Hour,
	}
	start := job.Config{Name: "settle", Cron: "0 0 3 * * ?", ShardingTotalCount: 2}
	d, err := describe(jobfile.InRegistry(start, "handler"))
	if err != nil {
		t.Fatal(err)
	}
	for _, differ := range start.Differences(full) {
		if err := d.set(differ.Field + "=" + differ.After); err != nil {
			t.Errorf("%+v: %v", differ, err)
		}
	}
	if got, err := d.declared(jobfile.Options{}, jobfile.Declared{}); err != nil || len(got.Config.Differences(full)) > 0 {
		t.Errorf("%+v, %v", got.Config.Differences(full), err)
	}
}
