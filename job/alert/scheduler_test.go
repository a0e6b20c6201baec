package alert_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
)

func dial(t *testing.T) coord.Registry {
	t.Helper()
	reg, err := memory.NewStore(memory.Options{}).Dial(t.Context(), memory.Config{Namespace: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close(context.Background()) })
	return reg
}

// A job that fails, works, and fails again, with two error handlers. What waits at the end is
// sent by Shutdown.
func TestScheduler(t *testing.T) {
	ding, hook := newReceiver(t, says(`{"errcode":0}`)), newReceiver(t, says("ok"))
	var broken atomic.Bool
	broken.Store(true)
	ran := make(chan bool, 1000)
	c := job.Config{
		Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 2, ErrorHandler: "IGNORE,DINGTALK,SLACK",
		Props: map[string]string{
			"dingtalk.webhook": "${env:URL}", "dingtalk.secret": "${env:KEY}", "dingtalk.tls": "test",
			"slack.webhook": "${env:URL}", "slack.tls": "test",
			"alert.recovery": "true", "alert.window": "24h",
		},
	}
	options := []job.Option{
		job.WithErrorHandler(alert.NameDingTalk, alert.DingTalk(ding.options())),
		job.WithErrorHandler(alert.NameSlack, alert.Slack(hook.options())),
	}
	work := job.HandlerFunc(func(context.Context, job.ShardingContext) error {
		ran <- true
		if broken.Load() {
			return errDisk
		}
		return nil
	})

	reg := dial(t)
	wrong := c
	wrong.Props = maps.Clone(c.Props)
	wrong.Props["dingtalk.secret"], wrong.Props["alert.window"] = "SEC123", "soon"
	_, err := job.Schedule(t.Context(), reg, wrong, work, options...)
	if !errors.Is(err, job.ErrInvalidConfig) || !strings.Contains(err.Error(), `props: alert.window: "soon"`) || !strings.Contains(err.Error(), "props: dingtalk.secret: is secret") || strings.Contains(err.Error(), "SEC123") {
		t.Errorf("a start with wrong properties: %v", err)
	}

	s, err := job.Schedule(t.Context(), reg, c, work, options...)
	if err != nil {
		t.Fatal(err)
	}
	text := func() string { return textIn(t, "slack", <-hook.requests) }
	if got := text(); !strings.HasPrefix(got, "Job 'settle' failed") || !strings.Contains(got, "Error: disk full") {
		t.Errorf("got %s", got)
	}
	broken.Store(false)
	for !strings.HasPrefix(text(), "Job 'settle' works again") {
	}
	broken.Store(true)
	for len(ran) > 0 {
		<-ran
	}
	<-ran // this run fails, and Shutdown waits for it
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(hook.requests) == 0 {
		t.Error("Shutdown has sent nothing")
	}
	for len(hook.requests) > 0 {
		text()
	}
	if len(ding.requests) < 3 {
		t.Errorf("DingTalk got %d messages", len(ding.requests))
	}
	for len(ding.requests) > 0 {
		r := <-ding.requests
		textIn(t, "dingtalk", r)
		if r.url.Query().Get("sign") != alert.Signature(r.url.Query().Get("timestamp"), "SECtest-key/+=") {
			t.Errorf("the signature of %s", r.url)
		}
	}
}
