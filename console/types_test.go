package console

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

var write = flag.Bool("write", false, "write what is made of the OpenAPI document: the types of the pages, and the client")

// typesFile has the types of the API for the modules of the pages.
const typesFile = "internal/page/app/types/api.d.ts"

// What the pages know of the API is what its document says.
func TestTypesOfPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d described
		if err := json.Unmarshal(documentOf(newTown(t)), &d); err != nil {
			t.Fatal(err)
		}
		if *write {
			must(t, os.WriteFile(typesFile, []byte(d.types()), 0o644))
			return
		}
		got, err := os.ReadFile(typesFile)
		must(t, err)
		if string(got) != d.types() {
			t.Errorf("%s is not up to date: go test . -run TestTypesOfPages -write", typesFile)
		}
	})
}

// documentOf returns the OpenAPI document, as JSON.
func documentOf(c http.Handler) []byte {
	w := httptest.NewRecorder()
	c.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/openapi.json", nil))
	return w.Body.Bytes()
}

// described is the part of a document that types are made of.
type described struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

type operation struct {
	Parameters []struct {
		Name, In string
		Required bool
		Schema   schema
	}
	RequestBody *struct {
		Content map[string]struct{ Schema schema }
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema schema }
	}
}

// schema is one of JSON Schema, as far as the document uses it.
type schema struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Enum                 []any
	Items                *schema
	Properties           map[string]schema
	Required             []string
	AdditionalProperties json.RawMessage
	Description          string
}

// types returns declarations of TypeScript: one for each schema, and one with all operations.
func (d described) types() string {
	var b strings.Builder
	b.WriteString("// Made by go test ./console -run TestTypesOfPages -write: the types of the API.\n")
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		s := d.Components.Schemas[name]
		if s.Properties == nil {
			fmt.Fprintf(&b, "export type %s = %s;\n", name, s.text())
			continue
		}
		fmt.Fprintf(&b, "export interface %s {\n", name)
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			if about := s.Properties[field].Description; about != "" {
				fmt.Fprintf(&b, "  /** %s */\n", about)
			}
			fmt.Fprintf(&b, "  %s: %s;\n", optional(field, slices.Contains(s.Required, field)), s.Properties[field].text())
		}
		b.WriteString("}\n")
	}
	b.WriteString("export interface Operations {\n")
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			op := d.Paths[path][method]
			var in []string
			for _, p := range op.Parameters {
				in = append(in, optional(fmt.Sprintf("%q", p.Name), p.Required)+": "+p.Schema.text())
			}
			body := "undefined"
			if op.RequestBody != nil {
				body = content(op.RequestBody.Content)
			}
			fmt.Fprintf(&b, "  %q: { in: { %s }, body: %s, out: %s };\n", strings.ToUpper(method)+" "+strings.TrimPrefix(path, "/api/v1"), strings.Join(in, "; "), body, op.out())
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func optional(name string, required bool) string {
	if required {
		return name
	}
	return name + "?"
}

// out is the type of the answer when all is well.
func (op operation) out() string {
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		if strings.HasPrefix(status, "2") {
			return content(op.Responses[status].Content)
		}
	}
	return "unknown"
}

func content(of map[string]struct{ Schema schema }) string {
	for _, c := range of {
		return c.Schema.text()
	}
	return "undefined"
}

// text is the type of a schema.
func (s schema) text() string {
	if s.Ref != "" {
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	}
	kind, null := s.kind()
	switch {
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, word := range s.Enum {
			words[i] = fmt.Sprintf("%q", word)
		}
		return strings.Join(words, " | ") + null
	case kind == "array":
		return "(" + s.Items.text() + ")[]" + null
	case kind == "object":
		var values schema
		if json.Unmarshal(s.AdditionalProperties, &values) != nil { // true, or nothing: any value
			values = schema{}
		}
		return "Record<string, " + values.text() + ">" + null
	}
	names := map[string]string{"integer": "number", "number": "number", "string": "string", "boolean": "boolean"}
	return cmp.Or(names[kind], "unknown") + null
}

// kind returns the type of a schema, and what is added if it may be null.
func (s schema) kind() (kind, null string) {
	switch of := s.Type.(type) {
	case string:
		return of, ""
	case []any:
		for _, k := range of {
			if k == "null" {
				null = " | null"
			} else {
				kind, _ = k.(string) // the document has texts there
			}
		}
	}
	return kind, null
}
