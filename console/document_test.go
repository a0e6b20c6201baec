package console

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
)

// The document of a whole console has all its routes below /api/v1, with what each needs, and no others. All is
// described, and no list is null.
func TestDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		town := newTown(t)
		check, err := apitest.NewChecker(town)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range check.Compare(town.table.Routes()) {
			t.Error(err)
		}
		w := httptest.NewRecorder()
		town.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/openapi.json", nil))
		var document any
		if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		checkWords(t, "", document)
	})
}

// otherNames are names for what has another name in the whole API.
var otherNames = map[string]string{
	"started": "begun", "began": "begun", "startTime": "begun", "completed": "ended", "finished": "ended", "completeTime": "ended",
}

// checkWords looks for what a part of a document does not describe. Names within a part are followed by a slash.
func checkWords(t *testing.T, at string, part any) {
	object, _ := part.(map[string]any) // a list or a value is none
	for key, inner := range object {
		place := at + "/" + key
		switch key {
		case "properties", "headers", "responses", "securitySchemes":
			for name, one := range inner.(map[string]any) {
				checkDescription(t, place+"/"+name, one)
				if better := otherNames[name]; key == "properties" && better != "" {
					t.Errorf("%s/%s: it is called %s everywhere else", place, name, better)
				}
			}
		case "parameters", "tags":
			if isTags := slices.ContainsFunc(inner.([]any), func(one any) bool { _, isName := one.(string); return isName }); isTags {
				continue // those of an operation
			}
			for _, one := range inner.([]any) {
				checkDescription(t, place+"/"+one.(map[string]any)["name"].(string), one)
			}
		case "get", "put", "post", "patch", "delete":
			if _, isOperation := inner.(map[string]any)["operationId"]; isOperation {
				checkDescription(t, place, inner)
			}
		case "type":
			if types, isList := inner.([]any); isList && slices.Contains(types, any("null")) && !strings.HasPrefix(at, "/components/schemas/ConfigurationPatch/") {
				t.Errorf("%s: %v; [] is allowed, or nothing", place, types)
			}
		}
		if list, isList := inner.([]any); isList {
			for _, one := range list {
				checkWords(t, place, one)
			}
			continue
		}
		checkWords(t, place, inner)
	}
}

func checkDescription(t *testing.T, place string, of any) {
	text, _ := of.(map[string]any)["description"].(string) // none is empty
	if !strings.HasSuffix(text, ".") && !strings.Contains(place, "/responses/") || text == "" {
		t.Errorf("%s: %q is no description in sentences", place, text)
	}
}
