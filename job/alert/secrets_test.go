package alert_test

import (
	"errors"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
)

// A secret that is away for a moment, wherever it stands, keeps no message back.
func TestSecretComesBack(t *testing.T) {
	for name, tc := range map[string]struct {
		of    func(alert.Options) job.ErrorHandlerType
		props map[string]string
	}{
		"URL":       {alert.WeChat, map[string]string{"wechat.webhook": "${env:GONE}", "wechat.tls": "test"}},
		"signature": {alert.DingTalk, map[string]string{"dingtalk.webhook": "${env:URL}", "dingtalk.tls": "test", "dingtalk.secret": "${env:GONE}"}},
		"header":    {alert.Webhook, map[string]string{"webhook.url": "${env:URL}", "webhook.tls": "test", "webhook.header.Authorization": "${env:GONE}"}},
		"template":  {alert.Webhook, map[string]string{"webhook.url": "${env:URL}", "webhook.tls": "test", "webhook.template": `{"key": {{secret "env:GONE" | json}}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t, says(`{"errcode": 0}`))
			options := r.options()
			known, looks := options.Lookup, 0
			options.Lookup = func(name string) (string, bool, error) {
				if name != "env:GONE" {
					return known(name)
				}
				if looks++; looks == 1 {
					return "", true, errors.New("it is away")
				}
				return known("env:URL")
			}
			looks = -100 // those at the start
			h := newHandler(t, tc.of(options), nil, tc.props)
			looks = 0
			h.HandleError(t.Context(), execution(0), errDisk)
			if err := h.Flush(t.Context()); err != nil {
				t.Error(err)
			}
			if len(r.requests) != 1 || looks != 2 {
				t.Errorf("%d requests, %d looks", len(r.requests), looks)
			}
		})
	}
}

// What a table calls secret is hidden by its name wherever a configuration is shown.
func TestSecretRowsAreVeiled(t *testing.T) {
	for _, kind := range alert.Kinds() {
		for _, row := range kind.Table.Rows {
			if row.Secret && veil.Value(row.Name, "hunter2") != veil.Veil {
				t.Errorf("%s is shown", row.Name)
			}
		}
	}
}
