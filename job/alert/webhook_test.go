package alert_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job/alert"
)

func TestWebhook(t *testing.T) {
	r := newReceiver(t, status(202, ""))
	h := newHandler(t, alert.Webhook(r.options()), nil, map[string]string{"webhook.url": "${env:URL}", "webhook.tls": "test"})
	h.HandleError(t.Context(), execution(3), errors.New(`disk <full>`))
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := <-r.requests
	var m alert.Message
	decoder := json.NewDecoder(strings.NewReader(got.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		t.Fatal(err)
	}
	if got.method != "POST" || got.header.Get("Content-Type") != "application/json" || m.Job != "settle" || m.Error != "disk <full>" || m.Execution.TaskID != "task-1" || m.Items[0] != 3 {
		t.Errorf("%s %v %s", got.method, got.header, got.body)
	}
}

func TestWebhookWithAll(t *testing.T) {
	r := newReceiver(t, status(418, ""))
	h := newHandler(t, alert.Webhook(r.options()), nil, map[string]string{
		"webhook.url": r.URL + "/x?token=${env:KEY}", "webhook.tls": "test", "webhook.method": "PUT",
		"webhook.header.Authorization": "Bearer ${env:KEY}", "webhook.header.X-Team": "ops", "webhook.content.type": "text/plain",
		"webhook.template":      `{{.Title}}|{{range $i, $item := .Items}}{{$i}}:{{$item}}{{end}}{{range .Items}}{{else}}{{range .Items}}{{end}}{{end}}|{{printf "%03d" .Count}}|{{secret "env:KEY"}}|{{.Error}}`,
		"webhook.success.codes": "200,410-420",
	})
	h.HandleError(t.Context(), execution(3), errors.New("${env:URL}"))
	if err := h.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := <-r.requests
	if got.method != "PUT" || got.url.String() != "/x?token=SECtest-key/+=" || got.header.Get("Authorization") != "Bearer SECtest-key/+=" ||
		got.header.Get("X-Team") != "ops" || got.header.Get("Content-Type") != "text/plain" ||
		got.body != "Job 'settle' failed: item 3|0:3|001|SECtest-key/+=|${env:URL}" {
		t.Errorf("got %+v", got)
	}
}

// What fails at the time of sending is in the log, without secrets.
func TestWebhookFails(t *testing.T) {
	for name, tc := range map[string]struct {
		props map[string]string
		reply http.HandlerFunc
		text  string
	}{
		"status":          {nil, status(200, "SECtest-key/+= is wrong"), `answered 200: \"*** is wrong\"`},
		"secret unknown":  {map[string]string{"webhook.template": `{{secret "env:NONE"}}`}, nil, "there is none"},
		"header unknown":  {map[string]string{"webhook.header.X": `${env:NONE}`}, nil, `the header \"X\"`},
		"header value":    {map[string]string{"webhook.header.X": `${env:LINES}`}, nil, "invalid header field value"},
		"body too long":   {map[string]string{"webhook.template": strings.Repeat("{{.Error}}", 1000)}, nil, "more than 65536 bytes"},
		"text of a field": {map[string]string{"webhook.template": `{{slice .Error 100}}{{.Job}}{{secret "env:KEY"}}`}, nil, "slice"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t, tc.reply)
			var log logged
			props := with(map[string]string{"webhook.url": r.URL + "/${env:KEY}", "webhook.tls": "test", "webhook.success.codes": "299", "webhook.content.type": "text/plain", "alert.attempts": "1"})
			for name, text := range tc.props {
				props[name] = text
			}
			if name == "text of a field" {
				props["webhook.template"] = `{{if eq .Job "settle"}}{{slice .Error 100}}{{end}}`
			}
			options := r.options()
			var vanish func()
			options.Lookup, vanish = vanishing(options.Lookup)
			h := newHandler(t, alert.Webhook(options), log.logger(), props)
			vanish()
			h.HandleError(t.Context(), execution(0), errors.New(strings.Repeat("x", 90)))
			if err := h.Flush(t.Context()); err == nil {
				t.Error("no error")
			}
			if !strings.Contains(log.String(), tc.text) || strings.Contains(log.String(), "SECtest") {
				t.Errorf("the log: %s", log.String())
			}
		})
	}
}
