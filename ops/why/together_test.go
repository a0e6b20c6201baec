package why_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/why"
)

// An entry of the audit may be that of an action on several jobs.
func TestPausedWithOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.NewStore(memory.Options{})
		defer store.Close()
		reg, err := store.Dial(t.Context(), memory.Config{Namespace: "a"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := reg.Close(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}()
		o := ops.New(reg)
		hourly := job.Config{Name: "settle", Cron: "0 0 * * * ?", TimeZone: "UTC", ShardingTotalCount: 1}
		if err := o.Create(t.Context(), ops.CreateRequest{Config: hourly, Implementation: "x"}); err != nil {
			t.Fatal(err)
		}
		together := o.By("anna").Together().Job("settle")
		if _, err := together.Pause(t.Context(), ops.PauseRequest{Why: "the bank moves"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(90 * time.Minute)
		at := time.Now()
		if err := together.Resume(t.Context(), ops.ResumeRequest{}); err != nil {
			t.Fatal(err)
		}
		answer, err := why.Explain(t.Context(), o, why.Query{Job: "settle", At: at})
		if err != nil || len(answer.Causes) == 0 || answer.Causes[0].Kind != why.Paused || answer.Causes[0].By != "anna" {
			t.Errorf("%+v, %v", answer, err)
		}
	})
}
