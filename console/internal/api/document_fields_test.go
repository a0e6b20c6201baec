package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Answers may have more fields in later versions, and the document says so. Bodies of requests may not.
func TestFieldsThatComeLater(t *testing.T) {
	table := &route.Table{Fail: api.Fail, Who: func(*http.Request) (*access.Principal, error) { return nil, nil }}
	if _, err := api.Add(table, api.Options{Connections: connection.Fixed(nil)}); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	table.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/openapi.json", nil))
	var document struct {
		Components struct {
			Schemas map[string]struct {
				AdditionalProperties any `json:"additionalProperties"`
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	schemas := document.Components.Schemas
	for name, want := range map[string]any{"JobView": nil, "ItemInfo": nil, "Killed": nil, "KillBody": false, "PauseBody": false} {
		s, isThere := schemas[name]
		if !isThere || s.AdditionalProperties != want {
			t.Errorf("%s: %t, additionalProperties %v, want %v", name, isThere, s.AdditionalProperties, want)
		}
	}
}
