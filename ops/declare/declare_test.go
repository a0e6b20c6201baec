package declare_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobfile"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
)

const twoJobs = `
calendars:
  holidays: "timeZone: UTC\ndates: [12-25]\n"
defaults: {failover: true}
jobs:
  report: {type: HTTP, cron: "0 0 3 * * ? 2090", timeZone: UTC, calendars: [holidays], shardingTotalCount: 2, props: {http.uri: "${env:URI}"}}
  settle: {implementation: com.example.Settle, shardingTotalCount: 3}
`

// A set comes, changes, and goes; and what is as it should be is not written.
func TestApply(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		reg := &counting{Registry: open(t, d)}
		o := ops.New(reg).By("anna")
		request := declare.Request{Set: "shop", Files: files(t, twoJobs)}

		p := plan(t, o, request)
		if got := summary(p); got != "create holidays, create report, create settle" {
			t.Error(got)
		}
		for _, r := range p.Apply(t.Context(), o.DryRun(), nil) {
			if r.Err != nil {
				t.Errorf("dry run: %s: %v", r.Name, r.Err)
			}
		}
		if n := reg.commits.Load(); n > 0 {
			t.Errorf("a plan and a dry run: %d commits", n)
		}
		apply(t, o, request)
		if n := reg.commits.Load(); n != 3 {
			t.Errorf("%d commits for two jobs and a calendar", n)
		}
		s, err := o.Job("report").Settings(t.Context())
		if err != nil || s.Implementation != "HTTP" || !s.Config.Failover || s.Config.Props["http.uri"] != "${env:URI}" {
			t.Errorf("%+v, %v", s, err)
		}

		if p := plan(t, o, request); p.Changes() || summary(p) != "unchanged holidays, unchanged report, unchanged settle" {
			t.Errorf("again: %s", summary(p))
		}
		apply(t, o, request)
		if n := reg.commits.Load(); n != 3 {
			t.Errorf("again: %d commits", n-3)
		}

		// One changes, with its calendar, and one goes.
		request.Files = files(t, `
calendars: {holidays: "timeZone: UTC\ndates: [01-01]\n"}
jobs:
  report: {implementation: report, cron: "0 0 4 * * ? 2090", timeZone: UTC, calendars: [holidays], shardingTotalCount: 2, timeout: 1m}`)
		p = plan(t, o, request)
		if got := summary(p); got != "update holidays, update report, keep settle" {
			t.Error(got)
		}
		var words []string
		for _, d := range p.Steps[1].Differences {
			words = append(words, d.String())
		}
		if d := cmp.Diff([]string{
			"implementation: HTTP → report", "cron: 0 0 3 * * ? 2090 → 0 0 4 * * ? 2090", "failover: true → false", "timeout: 0s → 1m", "props.http.uri: ${env:URI} → none",
		}, words); d != "" {
			t.Error(d)
		}
		if s := p.Steps[1]; len(s.Before) != 3 || s.Before[0].Format("01-02 15") != "01-01 03" || s.After[0].Format("01-02 15") != "01-02 04" {
			t.Errorf("ticks %v, then %v", s.Before, s.After)
		}
		apply(t, o, request)
		if s, err := o.Job("report").Settings(t.Context()); err != nil || s.Implementation != "report" || s.Config.Cron != "0 0 4 * * ? 2090" {
			t.Errorf("%+v, %v", s, err)
		}
		request.Prune = true
		if got := summary(plan(t, o, request)); got != "unchanged holidays, unchanged report, prune settle" {
			t.Error(got)
		}
		apply(t, o, request)
		if _, err := o.Job("settle").Settings(t.Context()); !errors.Is(err, ops.ErrNoJob) {
			t.Errorf("pruned: %v", err)
		}
		if got := summary(plan(t, o, request)); got != "unchanged holidays, unchanged report" {
			t.Error(got)
		}
		changes, err := o.Audit(t.Context(), ops.AuditQuery{Job: "report", Action: ops.ActionApply})
		if err != nil || len(changes) != 2 || changes[0].By != "anna" || changes[0].Detail != "set shop, implementation report" || !strings.Contains(changes[0].Before, "0 0 3") || changes[1].Before != "" {
			t.Errorf("audit: %+v, %v", changes, err)
		}

		// It was removed: the plan says so.
		request.Files = files(t, twoJobs)
		p = plan(t, o, request)
		if s := p.Steps[2]; s.Action != declare.Create || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "was removed by anna") {
			t.Errorf("%s: %+v", summary(p), s)
		}
		apply(t, o, request)

		// It was moved: created here it would run twice.
		request.Files = files(t, twoJobs+"  moved: {implementation: moved, shardingTotalCount: 1}\n")
		note := jobtree.EncodeRemoval(jobtree.RemovalDocument{Revision: jobtype.MaxRevision, MovedTo: "etcd://new/shop"})
		if _, err := reg.Commit(t.Context(), coord.Put(jobtree.Job("moved").Removal(), note)); err != nil {
			t.Fatal(err)
		}
		p = plan(t, o, request)
		if s := p.Steps[1]; s.Action != declare.Refuse || !errors.Is(s.Err, ops.ErrMoved) || !strings.Contains(s.Why, "it is in etcd://new/shop; take it out of the files, or") {
			t.Errorf("%s: %+v", summary(p), s)
		}
	})
}

// Two operators apply other files at once: each job is as one of them wants it, and the other one is
// told, also if he has seen the job before it was created.
func TestRace(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		reg := open(t, d)
		const jobs = 10
		both := []*ops.Ops{ops.New(reg).By("anna"), ops.New(open(t, d)).By("bert")}
		for round := range 2 {
			var plans [2]*declare.Plan
			for i, o := range both {
				text := "jobs:\n"
				for n := range jobs {
					text += fmt.Sprintf("  job-%d: {type: HTTP, shardingTotalCount: 1, description: round %d of %d}\n", n, round, i)
				}
				plans[i] = plan(t, o, declare.Request{Files: files(t, text)})
			}
			var results [2][]declare.Result
			var applying sync.WaitGroup
			for i, o := range both {
				applying.Go(func() { results[i] = plans[i].Apply(t.Context(), o, nil) })
			}
			applying.Wait()
			for n := range jobs {
				a, b := results[0][n], results[1][n]
				if (a.Err == nil) == (b.Err == nil) || a.Err != nil && !a.Lost() || b.Err != nil && !b.Lost() {
					t.Errorf("round %d: %s: %v, %v", round, a.Name, a.Err, b.Err)
					continue
				}
				winner := 0
				if a.Err != nil {
					winner = 1
				}
				s, err := both[0].Job(a.Name).Settings(t.Context())
				if want := fmt.Sprintf("round %d of %d", round, winner); err != nil || s.Config.Description != want {
					t.Errorf("%s: %q, %v; want %q", a.Name, s.Config.Description, err, want)
				}
			}
		}
	})
}

// What is not as the plan has seen it is not changed, and not removed.
func TestLost(t *testing.T) {
	o := ops.New(open(t, inMemory(t)))
	ctx := t.Context()
	apply(t, o, declare.Request{Files: files(t, twoJobs)})
	changed := func(name string) {
		t.Helper()
		s, err := o.Job(name).Settings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		s.Config.Description += "x"
		if err := o.Job(name).Update(ctx, ops.UpdateRequest{Config: s.Config, Version: s.Version}); err != nil {
			t.Fatal(err)
		}
	}
	request := declare.Request{Files: files(t, "calendars: {holidays: 'timeZone: UTC'}\njobs: {report: {type: HTTP, cron: '0 0 4 * * ?', shardingTotalCount: 2}}"), Prune: true}
	p := plan(t, o, request)
	changed("report")
	changed("settle")
	if _, err := o.PutCalendar(ctx, ops.PutCalendarRequest{Name: "holidays", Document: []byte("timeZone: GMT")}); err != nil {
		t.Fatal(err)
	}
	results := p.Apply(ctx, o, nil)
	for i, want := range []error{ops.ErrCalendarChanged, ops.ErrConfigChanged, declare.ErrSkipped} {
		if !errors.Is(results[i].Err, want) || results[i].Lost() != (i < 2) {
			t.Errorf("%s: %v, lost: %v", results[i].Name, results[i].Err, results[i].Lost())
		}
	}
	// Alone, a prune is conditional, too: on the version, and on the set.
	request.Files = files(t, "jobs: {report: {type: HTTP, cron: '0 0 4 * * ?', shardingTotalCount: 2}}")
	apply(t, o, declare.Request{Files: request.Files})
	p = plan(t, o, request)
	changed("settle")
	if r := p.Apply(ctx, o, nil)[1]; !errors.Is(r.Err, ops.ErrConfigChanged) {
		t.Errorf("prune: %v", r.Err)
	}
	p = plan(t, o, request)
	adopted := files(t, "jobs: {settle: {implementation: com.example.Settle, shardingTotalCount: 3, failover: true, description: xx}}")
	apply(t, o, declare.Request{Set: "other", Files: adopted, Adopt: true})
	if r := p.Apply(ctx, o, nil)[1]; !errors.Is(r.Err, ops.ErrOtherSet) || !r.Lost() {
		t.Errorf("prune: %v", r.Err)
	}
	if _, err := o.Job("settle").Settings(ctx); err != nil {
		t.Error(err)
	}
}

// Which revision is written, and which one is refused.
func TestRevision(t *testing.T) {
	for name, tc := range map[string]struct {
		there, file int
		overwrite   bool
		want        int // -1: refused
	}{
		"none in the file": {there: 4, want: 4},
		"none at all":      {},
		"larger":           {there: 4, file: 5, want: 5},
		"the same":         {there: 4, file: 4, want: 4},
		"smaller":          {there: 4, file: 3, want: -1},
		"overwrites":       {there: 4, file: 3, overwrite: true, want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			o := ops.New(open(t, inMemory(t)))
			c := job.Config{Name: "a", ShardingTotalCount: 1, Revision: tc.there}
			if err := o.Create(t.Context(), ops.CreateRequest{Config: c, Implementation: "HTTP"}); err != nil {
				t.Fatal(err)
			}
			request := declare.Request{Files: files(t, fmt.Sprintf("jobs: {a: {type: HTTP, shardingTotalCount: 2, revision: %d, overwrite: %v}}", tc.file, tc.overwrite)), Adopt: true}
			p := plan(t, o, request)
			if tc.want < 0 {
				if err := p.Refused(); !errors.Is(err, declare.ErrOldRevision) || !strings.Contains(err.Error(), "jobs.yaml:1:11: job a: the registry has a larger revision, 4: raise") {
					t.Errorf("%v", err)
				}
				if r := p.Apply(t.Context(), o, nil)[0]; !errors.Is(r.Err, declare.ErrOldRevision) {
					t.Errorf("applied: %v", r.Err)
				}
				return
			}
			apply(t, o, request)
			if s, err := o.Job("a").Settings(t.Context()); err != nil || s.Config.Revision != tc.want || s.Config.ShardingTotalCount != 2 {
				t.Errorf("%+v, %v", s.Config, err)
			}
			if p := plan(t, o, request); p.Changes() {
				t.Errorf("again: %s: %v", summary(p), p.Steps[0].Differences)
			}
		})
	}
}

// What may not become so is refused, and does not keep other jobs from what they should be.
func TestRefused(t *testing.T) {
	o := ops.New(open(t, inMemory(t)))
	apply(t, o, declare.Request{Files: files(t, twoJobs)})
	request := declare.Request{Set: "other", Files: files(t, `
jobs:
  report: {type: HTTP, shardingTotalCount: 1}
  new: {type: HTTP, shardingTotalCount: 1}`)}
	p := plan(t, o, request)
	if err := p.Refused(); summary(p) != "create new, refuse report" || !errors.Is(err, ops.ErrOtherSet) {
		t.Errorf("%s: %v", summary(p), err)
	}
	p.Apply(t.Context(), o, nil)
	if _, err := o.Job("new").Settings(t.Context()); err != nil {
		t.Error(err)
	}
	request.Adopt = true
	p = plan(t, o, request)
	if err := p.Refused(); !errors.Is(err, job.ErrKindConflict) {
		t.Errorf("%s: %v", summary(p), err)
	}
	if _, err := declare.NewPlan(t.Context(), o, declare.Request{Files: &jobfile.Declarations{}, Prune: true}); !errors.Is(err, declare.ErrEmpty) {
		t.Error(err)
	}
	if _, err := declare.NewPlan(t.Context(), o, declare.Request{Set: "a/b", Files: request.Files}); err == nil {
		t.Error("a set of any name")
	}
}

// Keys of a JVM's document that nobody here knows stay, and a document that nobody can read goes.
func TestDocuments(t *testing.T) {
	reg := open(t, inMemory(t))
	o := ops.New(reg)
	put := func(document string) {
		t.Helper()
		if _, err := reg.Commit(t.Context(), coord.Put("a", []byte("com.example.A")), coord.Put("a/config", []byte(document))); err != nil {
			t.Fatal(err)
		}
	}
	request := declare.Request{Files: files(t, "jobs: {a: {implementation: com.example.A, shardingTotalCount: 2}}"), Adopt: true}
	put("jobName: a\nshardingTotalCount: 1\njobExtraConfigurations: [x]\n")
	apply(t, o, request)
	if n, err := reg.Get(t.Context(), "a/config"); err != nil || !strings.Contains(string(n.Value), "jobExtraConfigurations:") || !strings.Contains(string(n.Value), "shardingTotalCount: 2") {
		t.Errorf("%s, %v", n.Value, err)
	}
	put("{")
	p := plan(t, o, request)
	if s := p.Steps[0]; s.Action != declare.Update || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "cannot be read") {
		t.Errorf("%+v", s)
	}
	apply(t, o, request)
	if s, err := o.Job("a").Settings(t.Context()); err != nil || s.Config.ShardingTotalCount != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

// What a schedule lacks is said before it is applied.
func TestWarnings(t *testing.T) {
	o := ops.New(open(t, inMemory(t)))
	p := plan(t, o, declare.Request{Files: files(t, `
jobs:
  gone: {type: HTTP, cron: "0 0 3 * * ? 2001-2099", expiry: {at: 2010-01-01T00:00:00Z}, shardingTotalCount: 1}
  lost: {type: HTTP, cron: "0 0 3 * * ?", calendars: [no], shardingTotalCount: 1}`)})
	for i, want := range []string{"no tick is to come", "no tick begins until its calendars are there"} {
		if w := p.Steps[i].Warnings; len(w) != 1 || !strings.HasPrefix(w[0], want) {
			t.Errorf("%s: %q", p.Steps[i].Name, w)
		}
	}
}
