package email_test

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/job/alert/email"
)

func TestReferenceProperties(t *testing.T) {
	docpage.Open(t, "reference/failures.md").Section(t, email.Name).WantProperties(t, email.Rows())
}

// What the table calls secret is hidden by its name wherever a configuration is shown.
func TestSecretRowsAreVeiled(t *testing.T) {
	for _, row := range email.Rows() {
		if row.Secret && veil.Value(row.Name, "hunter2") != veil.Veil {
			t.Errorf("%s is shown", row.Name)
		}
	}
}
