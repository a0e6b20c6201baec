package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

func TestFrame(t *testing.T) {
	table := &route.Table{Fail: Fail, Who: func(r *http.Request) (*access.Principal, error) {
		if r.Header.Get("X-User") == "" {
			return nil, nil
		}
		return &access.Principal{Name: "anna", Grants: []access.Grant{{Role: access.Viewer}}}, nil
	}}
	_, err := Add(table, Options{Connections: connection.Fixed(nil), Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/v1", "/api/v1/namespaces", "/api/v1/namespaces?x=secret", "/api/v1/openapi.json", "/api/v1/nothing"} {
		for _, user := range []string{"", "anna"} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", path, nil)
			r.Header.Set("X-User", user)
			table.ServeHTTP(w, r)
			t.Logf("%s %s\n%d %v\n%s", user, path, w.Code, w.Header(), w.Body)
		}
	}
}
