package ops

import (
	"errors"
	"fmt"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// ForJVM lists what members of ElasticJob 3.0 would not start with, or would do otherwise, if the job
// went back to them as it is: see [jobtype.MixedIn]. Those that are refused stand in the way. Go members may refuse it.
//
// Errors: that of a document that cannot be read.
func (s Settings) ForJVM() ([]jobtype.MixedIssue, error) {
	issues, err := jobtype.MixedIn(s.Document)
	if fault, isOurs := errors.AsType[*jobtype.ConfigError](err); err != nil && (!isOurs || fault.Partial) {
		return nil, fmt.Errorf("job %s: for a JVM: %w", brief.Text(s.Job), err)
	}
	switch {
	case s.Implementation == "", s.Implementation == "SCRIPT", s.Implementation == "HTTP", strings.Contains(s.Implementation, "."):
	default:
		issues = append([]jobtype.MixedIssue{{
			Field:  "implementation",
			Does:   fmt.Sprintf("start only if %s is the name of their class, with its package", brief.Quote(s.Implementation)),
			Advice: "give the job that name when the last Go member has ended (elasticjob implement)", Refused: true,
		}}, issues...)
	}
	return issues, nil
}
