package api

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Words are for fields that are in the document and have no tag. That all fields have some is tested where the
// whole console is put together.
func TestWords(t *testing.T) {
	table := &route.Table{Fail: Fail, Who: func(*http.Request) (*access.Principal, error) { return nil, nil }}
	a, err := Add(table, Options{Connections: connection.Fixed(nil)})
	if err != nil {
		t.Fatal(err)
	}
	used := map[reflect.Type]bool{}
	var use func(reflect.Type)
	use = func(of reflect.Type) {
		used[of] = true
		for _, f := range reflect.VisibleFields(of) {
			if f.Anonymous && f.Type.Kind() == reflect.Struct {
				use(f.Type)
			}
		}
	}
	schemas := a.huma.OpenAPI().Components.Schemas
	for name := range schemas.Map() {
		if of := schemas.TypeFromRef(refPrefix + name); of != nil { // else it is written by hand
			use(of)
		}
	}
	for of, texts := range words {
		if !used[of] {
			t.Errorf("%v is not in the document", of)
		}
		tags := map[string]string{}
		for _, f := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			tags[name] = f.Tag.Get("doc")
		}
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			if tag, isThere := tags[name]; !isThere || tag != "" {
				t.Errorf("%v has no field %s without a tag", of, name)
			}
		}
	}
}
