package console

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/console/internal/api/apitest"
)

// The document of a whole console has all its routes below /api/v1, with what each needs, and no others.
func TestDocument(t *testing.T) {
	c := newConsole(t, nil)
	check, err := apitest.NewChecker(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range check.Compare(c.table.Routes()) {
		t.Error(err)
	}
}
