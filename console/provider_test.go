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
