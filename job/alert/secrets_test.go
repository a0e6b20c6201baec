package alert_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
)

func TestSecrets(t *testing.T) {
	s := alert.NewSecrets(lookup(map[string]string{
		"env:SHORT": "abcde", "env:LONG": "abcdefghi", "env:PORT": "443", "env:ODD": `a/b "c" <d> é&`,
		"env:URL": "https://user:hunter22@example.com/hooks/T0KEN-PATH?key=T0KEN-QUERY",
	}))
	for _, name := range []string{"SHORT", "LONG", "PORT", "ODD", "URL"} {
		if _, err := s.Expand("a ${env:" + name + "}"); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"abcdefghi and abcde":         "*** and ***",
		"port 443 at example.com":     "port 443 at example.com",
		"no hook T0KEN-PATH":          "no hook ***",
		"key T0KEN-QUERY is wrong":    "key *** is wrong",
		"password hunter22 for user":  "password *** for user",
		"nothing of interest, really": "nothing of interest, really",
		// as it is, in a query, in a path, in JSON, and in JSON for HTML
		`<a/b "c" <d> é&>`:                         "<***>",
		"?k=a%2Fb+%22c%22+%3Cd%3E+%C3%A9%26&":      "?k=***&",
		"/a%2Fb%20%22c%22%20%3Cd%3E%20%C3%A9&/":    "/***/",
		`{"k": "a/b \"c\" <d> é&"}`:                `{"k": "***"}`,
		`{"k": "a/b \"c\" \u003cd\u003e é\u0026"}`: `{"k": "***"}`,
	} {
		if got := s.Hide(text); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
	if _, err := s.Expand("${env:NONE}"); err == nil || !strings.Contains(err.Error(), "${env:NONE}") {
		t.Errorf("got %v", err)
	}
}

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
