package alert_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/elasticjob-go/elasticjob/coord/memory"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// pagerDuty makes events of version 2 for PagerDuty. There is one incident for a job and a
// machine. It is resolved when all that failed there works again, so set alert.recovery=true.
const pagerDuty = `{
	"routing_key": {{secret "env:PAGERDUTY_KEY" | json}},
	"event_action": {{if .Resolved}}"resolve"{{else}}"trigger"{{end}},
	"dedup_key": {{printf "elasticjob/%s/%s" .Job .Host | json}},
	"payload": {
		"summary": {{json .Title}},
		"source": {{json .Host}},
		"component": {{json .Job}},
		"severity": "error",
		"timestamp": {{json .Last}},
		"custom_details": {{json .}}
	}
}`

// alertmanager makes alerts for version 2 of the API of Prometheus Alertmanager. It takes an
// alert for resolved, too, that has not come again for its resolve_timeout.
const alertmanager = `[{
	"labels": {"alertname": "ElasticJobFailed", "job": {{json .Job}}, "host": {{json .Host}}},
	"annotations": {"summary": {{json .Title}}, "description": {{json .Text}}},
	"startsAt": {{json .First}}
	{{- if .Resolved}}, "endsAt": {{json .Last}}{{end}}
}]`

// A job opens an incident at PagerDuty when it fails, and closes it when it works again.
func ExampleWebhook() {
	// A server that stands for https://events.pagerduty.com.
	events := make(chan string, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e, err := pagerDutyEvent(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		events <- fmt.Sprintf("%s %s: %s", e.EventAction, e.DedupKey, e.Payload.Summary)
	}))
	defer server.Close()

	ctx := context.Background()
	reg, err := memory.NewStore(memory.Options{}).Dial(ctx, memory.Config{Namespace: "billing"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reg.Close(ctx)

	runs := 0
	s, err := job.Schedule(ctx, reg, job.Config{
		Name: "settle", Cron: "* * * * * ?", ShardingTotalCount: 1,
		ErrorHandler: "IGNORE,PAGERDUTY",
		Props: map[string]string{
			"webhook.url":      server.URL + "/v2/enqueue",
			"webhook.tls":      "test",
			"webhook.template": pagerDuty,
			"alert.recovery":   "true",
		},
	}, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
		if runs++; runs == 1 {
			return errors.New("disk full")
		}
		return nil
	}), job.WithErrorHandler("PAGERDUTY", alert.Webhook(alert.Options{
		Host:   "worker-1",
		TLS:    map[string]*tls.Config{"test": server.Client().Transport.(*http.Transport).TLSClientConfig},
		Lookup: fixed("env:PAGERDUTY_KEY", "0123456789abcdef0123456789abcdef"), // by default, the environment
	})))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-events)
	fmt.Println(<-events)
	if err := s.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// trigger elasticjob/settle/worker-1: Job 'settle' failed: item 0
	// resolve elasticjob/settle/worker-1: Job 'settle' works again: item 0
}

// fixed knows one reference.
func fixed(name, value string) property.Lookup {
	return func(asked string) (string, bool, error) { return value, asked == name, nil }
}
