package alert_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/property"
)

var types = map[string]func(alert.Options) job.ErrorHandlerType{
	alert.NameWeChat: alert.WeChat, alert.NameDingTalk: alert.DingTalk, alert.NameSlack: alert.Slack, alert.NameWebhook: alert.Webhook,
}

// valid are properties without a fault.
var valid = map[string]map[string]string{
	alert.NameWeChat:   {"wechat.webhook": "https://example.com/${env:TOKEN}"},
	alert.NameDingTalk: {"dingtalk.webhook": "https://example.com/send?access_token=${env:TOKEN}"},
	alert.NameSlack:    {"slack.webhook": "${file:/run/secrets/slack}"},
	alert.NameWebhook:  {"webhook.url": "https://example.com/"},
}

const secretText = "is secret, so a reference to what the process has is allowed: ${env:NAME} or ${file:/path}, alone or within a text"

// wrong has a wrong value for each property.
var wrong = []struct{ kind, name, value, text string }{
	{alert.NameSlack, "alert.after", "0", `"0": 1 to 1000 are allowed`},
	{alert.NameSlack, "alert.recovery", "yes", `"yes": true, false are allowed`},
	{alert.NameSlack, "alert.window", "60", `"60": durations from 1s to 24h0m0s, such as 1m30s, are allowed`},
	{alert.NameSlack, "alert.queue", "101", `"101": 1 to 100 are allowed`},
	{alert.NameSlack, "alert.attempts", "-1", `"-1": 1 to 100 are allowed`},
	{alert.NameSlack, "alert.missed", "1", `"1": true, false are allowed`},
	{alert.NameSlack, "alert.faults", "no", `"no": true, false are allowed`},
	{alert.NameSlack, "alert.by", "6 am", `"6 am": durations from 1m0s to 168h0m0s and times of day, such as 06:00, are allowed`},
	{alert.NameSlack, "alert.by", "30s", `"30s": durations from 1m0s`},
	{alert.NameSlack, "alert.by", "06:00", "the job has no cron, so no tick is to be done"},
	{alert.NameSlack, "slack.colour", "red", `is not known; alert.after, alert.recovery, alert.window, alert.queue, alert.attempts, alert.missed, alert.faults, alert.by, slack.webhook, slack.connectTimeoutMilliseconds, slack.readTimeoutMilliseconds, slack.tls are`},
	{alert.NameSlack, "alert.windows", "1m", `is not known; did you mean alert.window?`},
	{alert.NameWeChat, "wechat.webhook", "", "is required"},
	{alert.NameWeChat, "wechat.webhook", "https://example.com/key", secretText},
	{alert.NameWeChat, "wechat.webhook", "ftp://example.com/${env:TOKEN}", "an absolute URL with http or https, or a reference to one, is allowed"},
	{alert.NameWeChat, "wechat.connectTimeoutMilliseconds", "3s", `"3s": 1 to 300000 are allowed`},
	{alert.NameWeChat, "wechat.readTimeoutMilliseconds", "0", `"0": 1 to 300000 are allowed`},
	{alert.NameWeChat, "wechat.tls", "none", `"none" is not known here: Options.TLS names configurations`},
	{alert.NameDingTalk, "dingtalk.webhook", "${job:name}", secretText},
	{alert.NameDingTalk, "dingtalk.keyword", strings.Repeat("x", 256), "256 bytes: up to 255 bytes are allowed"},
	{alert.NameDingTalk, "dingtalk.secret", "SEC123", secretText},
	{alert.NameDingTalk, "dingtalk.connectTimeoutMilliseconds", "300001", `"300001": 1 to 300000 are allowed`},
	{alert.NameDingTalk, "dingtalk.readTimeoutMilliseconds", "x", `"x": 1 to 300000 are allowed`},
	{alert.NameDingTalk, "dingtalk.tls", "none", `"none" is not known here: Options.TLS names configurations`},
	{alert.NameSlack, "slack.webhook", "https://example.com/key", secretText},
	{alert.NameSlack, "slack.connectTimeoutMilliseconds", "0", `"0": 1 to 300000 are allowed`},
	{alert.NameSlack, "slack.readTimeoutMilliseconds", "0", `"0": 1 to 300000 are allowed`},
	{alert.NameSlack, "slack.tls", "none", `"none" is not known here: Options.TLS names configurations`},
	{alert.NameWebhook, "webhook.url", "", "is required"},
	{alert.NameWebhook, "webhook.url", "example.com", "an absolute URL with http or https, or a reference to one, is allowed"},
	{alert.NameWebhook, "webhook.url", "https://user:password@example.com", "a user or a password in it is secret, so a reference is allowed"},
	{alert.NameWebhook, "webhook.method", "DELETE", `"DELETE": POST, PUT, PATCH are allowed`},
	{alert.NameWebhook, "webhook.header.X Y", "1", "is no name of a header"},
	{alert.NameWebhook, "webhook.header.Host", "a", "is not for a configuration to set"},
	{alert.NameWebhook, "webhook.header.content-type", "a", "webhook.content.type sets it"},
	{alert.NameWebhook, "webhook.header.authorization", "Bearer x", "is secret, so a reference to what the process has is allowed: ${env:NAME} or ${file:/path}"},
	{alert.NameWebhook, "webhook.header.X-Team", "a\nb", "printable characters are allowed"},
	{alert.NameWebhook, "webhook.content.type", "a\nb", "printable characters are allowed"},
	{alert.NameWebhook, "webhook.template", "{{.Nothing}}", `1:2: executing "" at <.Nothing>: can't evaluate field Nothing in type alert.Message`},
	{alert.NameWebhook, "webhook.template", "{{", "1: unclosed action"},
	{alert.NameWebhook, "webhook.template", `{"error": "{{.Error}}"}`, "the body that it makes is no JSON, as webhook.content.type says; is there a text without the function json?"},
	{alert.NameWebhook, "webhook.template", `{{if .Recovered}}{{else}}{{range 1000000000}}{{end}}{{end}}`, "range over .Items is allowed, not over 1000000000"},
	{alert.NameWebhook, "webhook.template", `{{with .Count}}{{range $i := .}}{{end}}{{end}}`, "range over .Items is allowed, not over $i := ."},
	{alert.NameWebhook, "webhook.template", `{{range .Items}}{{range $.Items}}{{end}}{{end}}`, "range within range is not allowed"},
	{alert.NameWebhook, "webhook.template", `{{range .Items}}{{if .}}{{else}}{{with $}}{{range .Items}}{{end}}{{end}}{{end}}{{end}}`, "range within range is not allowed"},
	{alert.NameWebhook, "webhook.template", `{{template "x"}}`, "template is not allowed"},
	{alert.NameWebhook, "webhook.template", `{{define "x"}}{{end}}1`, "define and block are not allowed"},
	{alert.NameWebhook, "webhook.template", `{{printf "%0999d" 1}}`, `1:2: executing "" at <printf "%0999d" 1>: error calling printf: printf with a width of more than two digits is not allowed`},
	{alert.NameWebhook, "webhook.template", `{{$a := .Error}}` + strings.Repeat(`{{$a = print $a $a}}`, 20), "error calling print: more than 65536 bytes"},
	{alert.NameWebhook, "webhook.template", `{{secret "job:name"}}`, "secret env:NAME and secret file:/path are allowed, within quotation marks"},
	{alert.NameWebhook, "webhook.template", strings.Repeat("x", 16<<10+1), "16385 bytes: up to 16384 bytes are allowed"},
	{alert.NameWebhook, "webhook.success.codes", "200-99", `"200-99": numbers from 100 to 599 and ranges of them, such as 3,5-7, are allowed`},
	{alert.NameWebhook, "webhook.connectTimeoutMilliseconds", "0", `"0": 1 to 300000 are allowed`},
	{alert.NameWebhook, "webhook.readTimeoutMilliseconds", "0", `"0": 1 to 300000 are allowed`},
	{alert.NameWebhook, "webhook.url", "https://example.com/${env:NONE}", `reference "${env:NONE}": there is none`},
	{alert.NameWebhook, "webhook.header.X", "${env:NONE}", `reference "${env:NONE}": there is none`},
	{alert.NameWebhook, "webhook.template", `{{secret "env:NONE"}}`, `reference "${env:NONE}": there is none`},
	{alert.NameSlack, "slack.webhook", "${env:NONE}", `reference "${env:NONE}": there is none`},
	{alert.NameWebhook, "webhook.tls", "none", `"none" is not known here: Options.TLS names configurations`},
}

func TestWrongProperties(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	tested := map[string]bool{}
	for _, tc := range wrong {
		tested[tc.name] = true
		if strings.HasPrefix(tc.name, "webhook.header.") {
			tested["webhook.header.*"] = true
		}
		of := types[tc.kind](alert.Options{TLS: map[string]*tls.Config{"known": {}}, Lookup: func(name string) (string, bool, error) {
			if name == "env:NONE" {
				return "", true, errors.New("there is none")
			}
			return "x", true, nil
		}})
		if _, err := of.ErrorHandler(job.Config{Props: valid[tc.kind]}, log); err != nil {
			t.Fatalf("%s: %v", tc.kind, err)
		}
		_, err := of.ErrorHandler(job.Config{Props: with(valid[tc.kind], tc.name, tc.value)}, log)
		fault, ok := errors.AsType[*job.FieldError](err)
		if !ok || fault.Field != "props: "+tc.name || !strings.Contains(fault.Error(), tc.text) {
			t.Errorf("%s %.50q:\ngot  %v\nwant %s", tc.name, tc.value, err, tc.text)
		}
	}
	for _, kind := range alert.Kinds() {
		for _, row := range alert.RowsOf(kind) {
			if !tested[row.Name] {
				t.Errorf("no wrong value of %s is tested", row.Name)
			}
		}
	}
}

// The package comment has the tables of the code.
func TestDocumentedProperties(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	tables := [][]property.Row{alert.CommonRows()}
	for _, kind := range alert.Kinds() {
		tables = append(tables, kind.Table.Rows)
	}
	for _, rows := range tables {
		if text := documented(rows); !strings.Contains(string(doc), text) {
			t.Errorf("the package comment has not\n%s", text)
		}
	}
}

// documented writes a table as a package comment has it.
func documented(rows []property.Row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		value := row.Default
		if row.Required {
			value = "required"
		}
		allowed := strings.TrimSuffix(strings.TrimSuffix(row.Check.Allowed, " are"), " is")
		allowed, _, _ = strings.Cut(allowed, ", such as")
		if row.Secret {
			allowed = "a reference"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.Name, value, allowed, row.Meaning) // into memory
	}
	_ = w.Flush() // into memory
	return "//\t" + strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", "\n//\t") + "\n"
}
