package property_test

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job/property"
)

func TestSecrets(t *testing.T) {
	s := property.NewSecrets(func(name string) (string, bool, error) {
		value, ok := map[string]string{
			"env:SHORT": "abcde", "env:LONG": "abcdefghi", "env:PORT": "443", "env:ODD": `a/b "c" <d> é&`,
			"env:URL": "https://user:hunter22@example.com/hooks/T0KEN-PATH?key=T0KEN-QUERY",
		}[name]
		return value, ok, nil
	})
	for _, name := range []string{"SHORT", "LONG", "PORT", "ODD", "URL"} {
		if _, err := s.Expand("a ${env:" + name + "}"); err != nil {
			t.Fatal(err)
		}
	}
	address, err := s.Expand("${env:URL}")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	s.KeepURL(u)
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
	if s.Longest() != len(url.QueryEscape(address)) {
		t.Errorf("the longest secret has %d bytes", s.Longest())
	}
	if err := s.Error(fmt.Errorf("T0KEN-PATH: %w", io.EOF)); err.Error() != "***: EOF" || !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if err := s.Error(io.EOF); err != io.EOF {
		t.Errorf("got %v", err)
	}
	if _, err := s.Expand("${env:NONE}"); err == nil || !strings.Contains(err.Error(), "${env:NONE}") {
		t.Errorf("got %v", err)
	}
}
