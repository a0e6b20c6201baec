package ops_test

import (
	"reflect"
	"regexp"
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/ops"
)

// The reference names all that one can do.
func TestReferenceMethods(t *testing.T) {
	text := docpage.Open(t, "reference/steering.md").Text
	for _, typ := range []reflect.Type{reflect.TypeFor[*ops.Job](), reflect.TypeFor[*ops.Ops](), reflect.TypeFor[*ops.Server]()} {
		for method := range typ.Methods() {
			if !regexp.MustCompile("[`.]" + method.Name + `\b`).MatchString(text) {
				t.Errorf("the reference does not name %v.%s", typ, method.Name)
			}
		}
	}
}
