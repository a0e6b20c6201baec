package console

import (
	"encoding/json"
	"regexp"
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
		text := documentOf(town)
		var document any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		checkWords(t, "", document)
		checkClasses(t, text)
	})
}

// checkClasses looks for what keeps a program from making a client of the document with a class for each kind of
// answer, and a method for each operation.
func checkClasses(t *testing.T, text []byte) {
	type answer struct {
		Ref     string `json:"$ref"`
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			}
		}
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			RequestBody *answer
			Responses   map[string]answer
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for path, methods := range document.Paths {
		for method, op := range methods {
			if ids[op.OperationID] || !regexp.MustCompile("^[a-z]+(-[a-z]+)+$").MatchString(op.OperationID) {
				t.Errorf("%s %s: id %q is there already, or has no two words", method, path, op.OperationID)
			}
			ids[op.OperationID] = true
			if op.Responses["default"].Ref == "" {
				t.Errorf("%s %s: it does not say what any failure is", method, path)
			}
			if op.RequestBody != nil {
				op.Responses["request"] = *op.RequestBody
			}
			for status, a := range op.Responses {
				for kind, content := range a.Content {
					if strings.HasSuffix(kind, "json") && !strings.HasSuffix(kind, "openapi+json") && content.Schema.Ref == "" {
						t.Errorf("%s %s: %s: %s has a schema without a name", method, path, status, kind)
					}
				}
				if status >= "4" && status != "request" && a.Ref == "" {
					t.Errorf("%s %s: %s is not one of the failures that all have", method, path, status)
				}
			}
		}
	}
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
	object := of.(map[string]any)
	if _, isElsewhere := object["$ref"]; strings.Contains(place, "/responses/") && (isElsewhere || strings.Contains(place, "/responses/2")) {
		return // what a success means its schema says
	}
	if text, _ := object["description"].(string); !strings.HasSuffix(text, ".") { // none is empty
		t.Errorf("%s: %q is no description in sentences", place, text)
	}
}
