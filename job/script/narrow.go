package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/allow"
	"github.com/elasticjob-go/elasticjob/job/property"
)

// narrow refuses references that find nothing here, and what the worker does not list for the job; and it takes the user
// that it lists.
func (s *settings) narrow(list *allow.List) error {
	var faults []*job.FieldError
	fault := func(name string, err error) {
		if err != nil {
			faults = append(faults, &job.FieldError{Field: "props: " + name, Err: err})
		}
	}
	for _, variable := range s.env {
		_, err := property.Expand(variable.Value, s.lookup)
		fault("script.env."+brief.Text(variable.Name), err)
	}
	if list == nil {
		return errorOf(faults)
	}
	fault(s.argsFrom, list.Command(s.args[0]))
	user, err := list.User()
	fault(propUser, err)
	if s.user != "" && s.user != user {
		fault(propUser, fmt.Errorf("%s: %w", brief.Quote(s.user), allow.Refused(propUser)))
	}
	if s.group != "" {
		fault(propGroup, fmt.Errorf("%s: %w", brief.Quote(s.group), allow.ErrNotAllowed))
	}
	s.user = user
	for _, variable := range s.env {
		if !list.SetsVariable(variable.Name) {
			fault("script.env."+brief.Text(variable.Name), allow.Refused("script.environment"))
		}
	}
	// By their names alone: whether there is such a variable is not for a configuration to find out.
	always := append(strings.Split(alwaysInherited, ","), noVariables)
	for _, name := range s.inherit {
		if !slices.Contains(always, name) && !inherits(always, name) && !list.HasVariable(name) {
			fault(propInherit, fmt.Errorf("%s: %w", brief.Quote(name), allow.Refused("references.variables")))
		}
	}
	return errorOf(faults)
}
