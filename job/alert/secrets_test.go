package alert_test

import (
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/job/alert"
)

func TestSecrets(t *testing.T) {
	s := alert.NewSecrets(lookup(map[string]string{
		"env:SHORT": "abcde", "env:LONG": "abcdefghi", "env:PORT": "443",
		"env:URL": "https://user:hunter22@example.com/hooks/T0KEN-PATH?key=T0KEN-QUERY",
	}))
	for _, name := range []string{"SHORT", "LONG", "PORT", "URL"} {
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
	} {
		if got := s.Hide(text); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
	if _, err := s.Expand("${env:NONE}"); err == nil || !strings.Contains(err.Error(), "${env:NONE}") {
		t.Errorf("got %v", err)
	}
}
