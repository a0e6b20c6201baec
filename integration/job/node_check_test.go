package job_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
)

// Check refuses what a start would refuse, and leaves nothing behind.
func TestNodeCheck(t *testing.T) {
	broken := job.TypeFunc(func(c job.Config) (job.Handler, error) {
		if c.Props["panic"] != "" {
			panic("no such thing")
		}
		return nil, &job.FieldError{Field: "props: url", Err: errors.New("is required")}
	})
	onNode(t, job.NodeConfig{}, func(h host) {
		nop := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
		for name, tc := range map[string]struct {
			change  func(*job.Config)
			handler job.Handler
			field   string // that is wrong; empty if nothing is
		}{
			"right":         {func(*job.Config) {}, nop, ""},
			"cron":          {func(c *job.Config) { c.Cron = "x" }, nop, "cron"},
			"strategy":      {func(c *job.Config) { c.Strategy = "NONE" }, nop, "jobShardingStrategyType"},
			"listener":      {func(c *job.Config) { c.Listeners = []string{"NONE"} }, nop, "jobListenerTypes"},
			"error handler": {func(c *job.Config) { c.ErrorHandler = "NONE" }, nop, "jobErrorHandlerType"},
			"type":          {func(*job.Config) {}, job.OfType("BROKEN", broken), "props: url"},
			"panic":         {func(c *job.Config) { c.Props = map[string]string{"panic": "x"} }, job.OfType("BROKEN", broken), "props"},
		} {
			c := job.Config{Name: "a", Cron: rarely, ShardingTotalCount: 1}
			tc.change(&c)
			check := h.Check(c, tc.handler)
			s, start := h.Schedule(h.Context(), c, tc.handler)
			if fmt.Sprint(check) != fmt.Sprint(start) && name != "panic" { // which has a stack
				h.Errorf("%s: Check says %v, the start %v", name, check, start)
			}
			wrong, isWrong := errors.AsType[*job.FieldError](check)
			if isWrong != (tc.field != "") || isWrong && wrong.Field != tc.field {
				h.Errorf("%s: %v", name, check)
			}
			if s != nil {
				if err := s.Shutdown(h.Context()); err != nil {
					h.Error(err)
				}
			}
		}
		if err := h.Check(job.Config{Name: "a", Cron: rarely, ShardingTotalCount: 1}, job.OfType("NONE", nil)); err == nil {
			h.Error("no type is taken")
		}
	})
}
