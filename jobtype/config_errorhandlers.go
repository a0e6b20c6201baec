package jobtype

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Names of the error handlers that every scheduler knows ([Config.ErrorHandler]).
const (
	// ErrorHandlerLog writes a line at error level; the default.
	ErrorHandlerLog = "LOG"
	// ErrorHandlerIgnore does nothing. In a list it switches LOG off.
	ErrorHandlerIgnore = "IGNORE"
	// ErrorHandlerThrow gives the error to the program: see Errors of a scheduler.
	ErrorHandlerThrow = "THROW"
)

// ErrorHandlerNames returns the names in ErrorHandler, in their order.
//
// Errors: one that says which name is empty, there twice, or contradicts another one.
func (c Config) ErrorHandlerNames() ([]string, error) {
	names := strings.Split(c.ErrorHandler, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		switch {
		case names[i] == "":
			return nil, errors.New("a name is empty; names with commas between them are allowed")
		case slices.Contains(names[:i], names[i]):
			return nil, fmt.Errorf("%s is there twice; once is allowed", brief.Quote(names[i]))
		}
	}
	if slices.Contains(names, ErrorHandlerLog) && slices.Contains(names, ErrorHandlerIgnore) {
		return nil, fmt.Errorf("%s and %s contradict each other; one of them is allowed", ErrorHandlerLog, ErrorHandlerIgnore)
	}
	return names, nil
}
