package declare_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
)

// A job that runs goes by what is applied, also if its program has another configuration of a smaller
// revision, and ends when it is pruned.
func TestApplyToALiveJob(t *testing.T) {
	onEveryStore(t, func(t *testing.T, d dial) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		parameters := make(chan string, 10)
		work := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
			parameters <- sc.JobParameter
			return nil
		})
		code := job.Config{Name: "settle", Cron: "0 0 3 1 1 ?", ShardingTotalCount: 1, JobParameter: "of the code", Revision: 1}
		start := func() *job.Scheduler {
			t.Helper()
			s, err := job.Schedule(ctx, open(t, d), code, work, job.WithIP("10.0.0.1"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := start()
		o := ops.New(open(t, d)).By("anna")
		runsWith := func(want string) {
			t.Helper()
			for { // it goes by it a moment later
				r, err := o.Job("settle").Trigger(ctx, job.TriggerRequest{})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := r.Wait(ctx); err != nil {
					t.Fatal(err)
				}
				if <-parameters == want {
					return
				}
			}
		}
		runsWith("of the code")
		request := declare.Request{Files: files(t, "jobs: {settle: {implementation: settle, cron: '0 0 3 1 1 ?', shardingTotalCount: 1, jobParameter: of the file}}"), Prune: true}
		refuses := func(what string, r declare.Request, want error) {
			t.Helper()
			if err := plan(t, o, r).Refused(); !errors.Is(err, want) || !strings.Contains(err.Error(), `it is run by 1 instance: "10.0.0.1@`) {
				t.Errorf("%s: %v", what, err)
			}
		}
		refuses("of the program alone", request, declare.ErrNoSet)
		adopting := request
		adopting.Adopt = true
		apply(t, o, adopting)
		runsWith("of the file")
		if err := s.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		s = start() // the same program again: its revision is not larger
		runsWith("of the file")

		scripts := declare.Request{Files: files(t, "jobs: {settle: {type: SCRIPT, cron: '0 0 3 1 1 ?', shardingTotalCount: 1, props: {script.command.line: echo}}}")}
		refuses("another type", scripts, declare.ErrRuns)
		scripts.Set = "other"
		refuses("of another set", scripts, ops.ErrOtherSet)
		refuses("another type in another set", scripts, declare.ErrRuns)
		scripts.Adopt = true
		if warnings := plan(t, o, scripts).Steps[0].Warnings; !strings.Contains(strings.Join(warnings, "\n"), `1 instance: "10.0.0.1@`) {
			t.Errorf("adopted: %q", warnings)
		}

		request.Files = files(t, "jobs: {other: {implementation: other, shardingTotalCount: 1}}")
		if warnings := plan(t, o, request).Steps[1].Warnings; !strings.Contains(strings.Join(warnings, "\n"), `1 instance: "10.0.0.1@`) {
			t.Errorf("pruned: %q", warnings)
		}
		apply(t, o, request)
		select {
		case <-s.Done():
		case <-ctx.Done():
			t.Fatal("the job was pruned, and goes on")
		}
		if err := s.Shutdown(ctx); !errors.Is(err, job.ErrJobRemoved) {
			t.Errorf("the job was pruned: %v", err)
		}
	})
}

// Members of elastic-job 2.1 cannot read what apply would write. So it waits until they are gone, also with Adopt.
func TestMembersOfElasticJob2(t *testing.T) {
	reg := open(t, inMemory(t))
	const member = "old/instances/10.0.0.1@-@7"
	document := `{"jobName":"old","jobClass":"com.example.OldJob","jobType":"SIMPLE","cron":"0 0 3 * * ?","shardingTotalCount":1}`
	if _, err := reg.Commit(t.Context(), coord.Put("old/config", []byte(document)), coord.CreateEphemeral(member, nil)); err != nil {
		t.Fatal(err)
	}
	var request declare.Request
	for _, cron := range []string{"0 0 3 * * ?", "0 0 4 * * ?"} { // nothing but the document changes, or a setting, too
		request = declare.Request{Adopt: true, Files: files(t, fmt.Sprintf(
			"jobs: {old: {implementation: com.example.OldJob, cron: %q, shardingTotalCount: 1}}", cron))}
		s := plan(t, ops.New(reg), request).Steps[0]
		if s.Action != declare.Refuse || !errors.Is(s.Err, declare.ErrOldMembers) || !strings.HasSuffix(s.Why, `: 1 instance: "10.0.0.1@-@7"`) {
			t.Errorf("%s: %v: %s", cron, s.Action, s.Why)
		}
	}
	if _, err := reg.Commit(t.Context(), coord.DeleteTree(member)); err != nil {
		t.Fatal(err)
	}
	apply(t, ops.New(reg), request)
}
