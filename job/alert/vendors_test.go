package alert_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job/alert"
)

// event is what PagerDuty takes; see its Events API, version 2.
type event struct {
	RoutingKey  string `json:"routing_key"`
	EventAction string `json:"event_action"`
	DedupKey    string `json:"dedup_key"`
	Payload     struct {
		Summary       string         `json:"summary"`
		Source        string         `json:"source"`
		Severity      string         `json:"severity"`
		Component     string         `json:"component"`
		Timestamp     time.Time      `json:"timestamp"`
		CustomDetails map[string]any `json:"custom_details"`
	} `json:"payload"`
}

// pagerDutyEvent reads a request, and checks it as PagerDuty does.
func pagerDutyEvent(r *http.Request) (event, error) {
	var e event
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return e, err
	}
	p := e.Payload
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v2/enqueue" || r.Header.Get("Content-Type") != "application/json":
		return e, fmt.Errorf("%s %s %v", r.Method, r.URL, r.Header)
	case len(e.RoutingKey) != 32:
		return e, errors.New("routing_key has not 32 characters")
	case e.EventAction != "trigger" && e.EventAction != "resolve":
		return e, errors.New("event_action")
	case e.DedupKey == "" || len(e.DedupKey) > 255:
		return e, errors.New("dedup_key")
	case p.Summary == "" || len(p.Summary) > 1024 || p.Source == "" || p.Severity != "error" || p.Timestamp.IsZero():
		return e, errors.New("payload")
	}
	return e, nil
}

// Alertmanager gets what its OpenAPI description of version 2 allows: an alert that fires, and
// one with an end when all works again.
func TestAlertmanager(t *testing.T) {
	r := newReceiver(t, nil)
	h := newHandler(t, alert.Webhook(r.options()), nil, map[string]string{
		"webhook.url": r.URL + "/api/v2/alerts", "webhook.tls": "test", "webhook.template": alertmanager, "alert.recovery": "true", "webhook.success.codes": "200",
	})
	take := func() (labels map[string]string, starts, ends time.Time) {
		t.Helper()
		got := <-r.requests
		var alerts []struct {
			Labels, Annotations map[string]string
			StartsAt, EndsAt    time.Time
		}
		decoder := json.NewDecoder(strings.NewReader(got.body))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&alerts); err != nil || len(alerts) != 1 || got.url.Path != "/api/v2/alerts" || got.header.Get("Content-Type") != "application/json" {
			t.Fatalf("%v: %+v", err, got)
		}
		a := alerts[0]
		if a.Annotations["summary"] == "" || !strings.Contains(a.Annotations["description"], "worker-1@-@7") || a.StartsAt.IsZero() {
			t.Errorf("got %+v", a)
		}
		return a.Labels, a.StartsAt, a.EndsAt
	}
	same := func(labels map[string]string) bool {
		return len(labels) == 3 && labels["alertname"] == "ElasticJobFailed" && labels["job"] == "settle" && labels["host"] == "host-1"
	}
	h.HandleError(t.Context(), execution(0), errors.New("\"disk\"\nfull"))
	if labels, _, ends := take(); !same(labels) || !ends.IsZero() {
		t.Errorf("labels %v, ends at %v", labels, ends)
	}
	h.HandleError(t.Context(), execution(1), errors.New("\"disk\"\nfull"))
	h.HandleSuccess(t.Context(), execution(0))
	if _, _, ends := take(); !ends.IsZero() { // the failure of item 1
		t.Errorf("ends at %v", ends)
	}
	if _, _, ends := take(); !ends.IsZero() { // item 0 works, item 1 still fails
		t.Errorf("ends at %v", ends)
	}
	h.HandleSuccess(t.Context(), execution(1))
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if labels, starts, ends := take(); !same(labels) || ends.IsZero() || ends.Before(starts) {
		t.Errorf("labels %v, from %v to %v", labels, starts, ends)
	}
}
