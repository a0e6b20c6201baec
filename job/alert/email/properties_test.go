package email_test

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
)

const secretText = "is secret, so a reference to what the process has is allowed: ${env:NAME} or ${file:/path}, alone or within a text"

// Each property has a wrong value.
func TestWrongProperties(t *testing.T) {
	valid := map[string]string{
		"email.host": "smtp.example.com", "email.port": "465", "email.username": "jobs", "email.password": "${env:PASSWORD}",
		"email.from": "jobs@example.com", "email.to": "ops@example.com",
	}
	handlers := email.Type(alert.Options{Lookup: func(name string) (string, bool, error) { return "x", name != "env:NONE", nil }})
	if _, err := handlers.ErrorHandler(job.Config{Props: valid}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, tc := range []struct{ name, value, text, field string }{
		{"email.host", "", "is required", ""},
		{"email.host", "unix:///x", `"unix:///x": a host name or an IP address is allowed`, ""},
		{"email.port", "", "is required", ""},
		{"email.port", "0", `"0": 1 to 65535 are allowed`, ""},
		{"email.username", "", "is required with email.password", ""},
		{"email.username", strings.Repeat("x", 256), "256 bytes: up to 255 bytes are allowed", ""},
		{"email.password", "", "is required with email.username", ""},
		{"email.password", "secret", secretText, ""},
		{"email.password", "${env:NONE}", `reference "${env:NONE}" is not known`, ""},
		{"email.useSsl", "1", `"1": true, false are allowed`, ""},
		{"email.useSsl", "false", "off: the password would go in clear text, so required is allowed", "email.starttls"},
		{"email.starttls", "opportunistic", `"opportunistic": required, off are allowed`, ""},
		{"email.ssl.trust", "*", "* would let anybody pass for the mail server; name what its certificate is for, or let email.tls name a configuration that has its root", ""},
		{"email.ssl.trust", "a b", `"a b": host names with commas between them are allowed`, ""},
		{"email.tls", "none", `"none" is not known here: Options.TLS names configurations`, ""},
		{"email.subject", "a\r\nBcc: x@example.com", "one line of up to 255 bytes is allowed", ""},
		{"email.from", "", "is required", ""},
		{"email.from", "a@example.com,b@example.com", `"a@example.com,b@example.com": one address is allowed, such as ops@example.com`, ""},
		{"email.to", "", "is required", ""},
		{"email.to", "ops", `"ops": up to 100 addresses with commas between them are allowed, such as ops@example.com`, ""},
		{"email.cc", "ops@", `"ops@": up to 100 addresses`, ""},
		{"email.bcc", strings.Repeat("a@b.c,", 100) + "a@b.c", "up to 100 addresses", ""},
		{"email.timeoutMilliseconds", "0", `"0": 1 to 300000 are allowed`, ""},
		{"email.debug", "on", `"on": true, false are allowed`, ""},
		{"email.ssl", "true", "is not known; did you mean email.ssl.trust?", ""},
		{"alert.window", "0s", `"0s": durations from 1s to 24h0m0s`, ""},
	} {
		tested[tc.name] = true
		props := maps.Clone(valid)
		props[tc.name] = tc.value
		field := tc.name
		if tc.field != "" {
			field = tc.field
			props[field] = "off"
		}
		_, err := handlers.ErrorHandler(job.Config{Props: props}, slog.New(slog.DiscardHandler))
		fault, ok := errors.AsType[*job.FieldError](err)
		if !ok || fault.Field != "props: "+field || !strings.Contains(fault.Error(), tc.text) {
			t.Errorf("%s %.50q:\ngot  %v\nwant %s", tc.name, tc.value, err, tc.text)
		}
	}
	for _, row := range email.Rows() {
		if !tested[row.Name] {
			t.Errorf("no wrong value of %s is tested", row.Name)
		}
	}
}

// The package comment has the table of the code.
func TestDocumentedProperties(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range email.Rows() {
		value := row.Default
		if row.Required {
			value = "required"
		}
		allowed := strings.TrimSuffix(strings.TrimSuffix(row.Check.Allowed, " are"), " is")
		if row.Secret {
			allowed = "a reference"
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.Name, value, allowed, row.Meaning) // into memory
	}
	_ = w.Flush() // into memory
	text := "//\t" + strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", "\n//\t") + "\n"
	if !strings.Contains(string(doc), text) {
		t.Errorf("the package comment has not\n%s", text)
	}
}
