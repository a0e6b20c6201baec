package legacy

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/elasticjob-go/elasticjob/coord"
)

// Passwords that ElasticJob 3.x has written into a configuration are in no answer, and stay where they are.
func TestPasswordInAConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const document = "cron: 0/5 * * * * ?\njobName: old\nshardingTotalCount: 1\nprops:\n  email.password: hunter2\njobExtraConfigurations:\n- !!org.example.Tracing\n  password: hunter2\n"
		w := bare21(t, document)
		if _, err := w.dial("prod").Commit(t.Context(), coord.Put("old/servers/10.0.0.1", []byte("ENABLED"))); err != nil {
			t.Fatal(err)
		}
		ask := func(method, path, body string) string {
			r := httptest.NewRequest(method, path, strings.NewReader(body))
			r.Header.Set("Access-Token", "root")
			if body != "" {
				r.Header.Set("Content-Type", "application/json")
			}
			return w.send(r)
		}
		ask("POST", "/api/registry-center/connect", `{"name":"prod"}`)
		for _, got := range []string{
			ask("GET", "/api/jobs/config/old", ""),
			ask("PUT", "/api/jobs/config", `{"jobName":"old","description":"new","jobExtraConfigurations":[],"props":{"email.password":"***"}}`),
			ask("POST", "/api/servers/10.0.0.1/9888/jobs/old/dump", ""),
			w.ask("root", "GET", "/api/jobs/config/old", ""),
		} {
			if !strings.HasPrefix(got, "200") || strings.Contains(got, "hunter2") {
				t.Error(got)
			}
		}
		dump := ask("POST", "/api/servers/10.0.0.1/9888/jobs/old/dump", "")
		if !strings.Contains(dump, "password: '***'") || !strings.Contains(dump, "/old/servers/ip1 | ENABLED") {
			t.Error(dump)
		}
		s, err := w.prod.Job("old").Settings(t.Context())
		if err != nil || !strings.Contains(string(s.Document), "- !!org.example.Tracing\n  password: hunter2") || s.Config.Props["email.password"] != "hunter2" || s.Config.Description != "new" {
			t.Errorf("%s, %v", s.Document, err)
		}
	})
}
