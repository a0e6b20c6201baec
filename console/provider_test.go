package console

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/access/oidc"
)

// What a provider's log-in is refused for is in the trail, whether it is the browser's fault or the provider is away.
func TestTrailHasRefusedLogIns(t *testing.T) {
	town := newTown(t)
	for path, want := range map[string]int{oidc.CallbackPath: http.StatusBadRequest, oidc.LoginPath: http.StatusServiceUnavailable} {
		if got := town.ask(nil, httptest.NewRequest(http.MethodGet, path+"?code=planted-code-19", nil)); got.Code != want {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	trail, err := os.ReadFile(string(access.TrailOf(town.usersFile)))
	must(t, err)
	for _, want := range []string{`"kind":"log-in refused","address":"192.0.2.1","detail":"by oidc: no log-in has been started`, `"detail":"by oidc: the provider of log-ins cannot be reached`} {
		if !strings.Contains(string(trail), want) {
			t.Errorf("no %s in the trail:\n%s", want, trail)
		}
	}
	if strings.Contains(string(trail), "planted") {
		t.Errorf("a secret is in the trail:\n%s", trail)
	}
}

// Whom a provider has not let in gets a page that says why, with a way to try again; a program gets the reason alone.
func TestPageOfRefusedLogIns(t *testing.T) {
	town := newTown(t)
	for accept, want := range map[string]string{"text/html,*/*": "text/html; charset=utf-8", "*/*": "text/plain; charset=utf-8"} {
		r := httptest.NewRequest(http.MethodGet, oidc.CallbackPath+"?code=planted-code-19", nil)
		r.Header.Set("Accept", accept)
		w := town.ask(nil, r)
		if w.Code != http.StatusBadRequest || w.Header().Get("Content-Type") != want || !strings.Contains(w.Body.String(), "no log-in has been started") || strings.Contains(w.Body.String(), "planted") {
			t.Errorf("%s: %d %s\n%s", accept, w.Code, w.Header(), w.Body)
		}
	}
}
