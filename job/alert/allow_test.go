package alert_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
	"github.com/elasticjob-go/elasticjob/job/allow"
)

// Error handlers send no more than the list lets them, and nowhere else.
func TestAllow(t *testing.T) {
	t.Setenv("PAY_HOOK", "https://hooks.example.com/T0KEN")
	t.Setenv("DB_PASSWORD", "geheim")
	list, err := allow.New(allow.Rule{Jobs: "pay-*", Variables: []string{"PAY_*"}, Hosts: []string{"*.example.com", "mail.example.com:587"}})
	if err != nil {
		t.Fatal(err)
	}
	mail := func(host string) map[string]string {
		return map[string]string{"email.host": host, "email.port": "587", "email.from": "a@example.com", "email.to": "b@example.com"}
	}
	o := alert.Options{Allow: list}
	for _, tc := range []struct {
		job   string
		of    job.ErrorHandlerType
		props map[string]string
		wrong string
	}{
		{"pay-in", alert.Slack(o), map[string]string{"slack.webhook": "${env:PAY_HOOK}"}, ""},
		{"other", alert.Slack(o), map[string]string{"slack.webhook": "${env:PAY_HOOK}"}, "slack.webhook"},
		{"pay-in", alert.Slack(o), map[string]string{"slack.webhook": "https://hooks.slack.com/${env:PAY_HOOK}"}, "slack.webhook: its host"},
		{"pay-in", alert.Webhook(o), map[string]string{"webhook.url": "https://a.example.com", "webhook.header.X": "${env:DB_PASSWORD}"}, "webhook.header.X"},
		{"pay-in", alert.Webhook(o), map[string]string{"webhook.url": "https://a.example.com", "webhook.template": "${env:DB_PASSWORD}"}, "webhook.template"},
		{"pay-in", alert.Webhook(o), map[string]string{"webhook.url": "https://a.example.org"}, "webhook.url"},
		{"pay-in", email.Type(o), mail("mail.example.com"), ""},
		{"pay-in", email.Type(o), mail("mail.example.org"), "email.host"},
	} {
		_, err := tc.of.ErrorHandler(job.Config{Name: tc.job, Props: tc.props}, slog.New(slog.DiscardHandler))
		if (err == nil) != (tc.wrong == "") || err != nil && (!strings.Contains(err.Error(), tc.wrong) || !errors.Is(err, allow.ErrNotAllowed)) {
			t.Errorf("%s, %v: %v", tc.job, tc.props, err)
		}
	}
}

// What a name stands for is found out when a message is sent, and no further attempt is made.
func TestNotAllowedAddress(t *testing.T) {
	r := newReceiver(t, nil)
	list, err := allow.New(allow.Rule{Jobs: "*", Networks: []string{"192.0.2.0/24"}})
	if err != nil {
		t.Fatal(err)
	}
	var log logged
	o := alert.Options{Allow: list, Counts: new(alert.Counts)}
	h := newHandler(t, alert.Webhook(o), log.logger(), map[string]string{"webhook.url": strings.Replace(r.URL, "127.0.0.1", "localhost", 1), "alert.attempts": "2"})
	h.HandleError(t.Context(), execution(0), errDisk)
	if err := h.Flush(t.Context()); err == nil || len(r.requests) > 0 || strings.Count(log.String(), "does not allow") != 1 {
		t.Errorf("%v, the log: %s", err, log.String())
	}
}
