package job

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// errorHandlersFor returns what is told of failures under a configuration, by the list of
// names in it. If the list has neither LOG nor IGNORE, LOG comes first.
func (o *options) errorHandlersFor(c Config) (*exec.ErrorHandlers, []*FieldError) {
	names, err := c.ErrorHandlerNames()
	if err != nil {
		return nil, faultsOf(err, jobconf.KeyErrorHandler)
	}
	if !slices.Contains(names, ErrorHandlerLog) && !slices.Contains(names, ErrorHandlerIgnore) {
		names = slices.Insert(names, 0, ErrorHandlerLog)
	}
	several := exec.NewErrorHandlers(o.logger, c)
	var faults []*FieldError
	for _, name := range names {
		h, err := o.newErrorHandler(name, c)
		if err != nil {
			faults = append(faults, faultsOf(err, jobconf.KeyErrorHandler)...)
			continue
		}
		several.Add(name, h)
	}
	return several, faults
}

// newErrorHandler returns the error handler of a name for a configuration.
func (o *options) newErrorHandler(name string, c Config) (ErrorHandler, error) {
	t := o.errorHandlerType(name)
	if t == nil {
		known := slices.AppendSeq([]string{ErrorHandlerLog, ErrorHandlerIgnore, ErrorHandlerThrow}, maps.Keys(o.errorHandlers))
		slices.Sort(known)
		return nil, fmt.Errorf("%s is not known here, %s are; WithErrorHandler and WithErrorHandlerType make names known, and package alert has such types", quote(name), strings.Join(slices.Compact(known), ", "))
	}
	var h ErrorHandler
	err := guarded(func() (err error) {
		if h, err = t.ErrorHandler(c, o.slog); err == nil && isNil(h) {
			return fmt.Errorf("the type %s returned no error handler", quote(name))
		}
		return err
	})
	return h, err
}

// errorHandlerType returns the type of error handlers of a name; nil if there is none.
func (o *options) errorHandlerType(name string) ErrorHandlerType {
	if t := o.errorHandlers[name]; t != nil {
		return t
	}
	switch name {
	case ErrorHandlerLog:
		return sameErrorHandler{exec.LogErrors(o.logger)}
	case ErrorHandlerIgnore:
		return sameErrorHandler{exec.IgnoreErrors()}
	case ErrorHandlerThrow:
		return sameErrorHandler{o.thrown}
	}
	return nil
}
