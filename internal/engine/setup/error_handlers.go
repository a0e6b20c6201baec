package setup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/engine/exec"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// errorHandlersFor returns what is told of failures under a configuration, by the list of
// names in it. If the list has neither LOG nor IGNORE, LOG comes first.
func (o *Options) errorHandlersFor(c jobtype.Config) (*exec.ErrorHandlers, []*jobtype.FieldError) {
	names, err := c.ErrorHandlerNames()
	if err != nil {
		return nil, faultsOf(err, jobconf.KeyErrorHandler)
	}
	if !slices.Contains(names, jobtype.ErrorHandlerLog) && !slices.Contains(names, jobtype.ErrorHandlerIgnore) {
		names = slices.Insert(names, 0, jobtype.ErrorHandlerLog)
	}
	several := exec.NewErrorHandlers(o.Logger, c)
	var faults []*jobtype.FieldError
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
func (o *Options) newErrorHandler(name string, c jobtype.Config) (jobtype.ErrorHandler, error) {
	t := o.errorHandlerType(name)
	if t == nil {
		known := slices.AppendSeq([]string{jobtype.ErrorHandlerLog, jobtype.ErrorHandlerIgnore, jobtype.ErrorHandlerThrow}, maps.Keys(o.ErrorHandlers))
		slices.Sort(known)
		return nil, fmt.Errorf("%s is not known here, %s are; WithErrorHandler makes a name known, and package alert has such handlers", brief.Quote(name), strings.Join(slices.Compact(known), ", "))
	}
	var h jobtype.ErrorHandler
	err := Guarded(func() (err error) {
		if h, err = t.ErrorHandler(c, o.Slog); err == nil && IsNil(h) {
			return fmt.Errorf("the type %s returned no error handler", brief.Quote(name))
		}
		return err
	})
	return h, err
}

// errorHandlerType returns the type of error handlers of a name; nil if there is none.
func (o *Options) errorHandlerType(name string) jobtype.ErrorHandlerType {
	if t := o.ErrorHandlers[name]; t != nil {
		return t
	}
	switch name {
	case jobtype.ErrorHandlerLog:
		return exec.LogErrors(o.Logger)
	case jobtype.ErrorHandlerIgnore:
		return exec.IgnoreErrors()
	case jobtype.ErrorHandlerThrow:
		return jobtype.ErrorHandlerFunc(o.Thrown.HandleError)
	}
	return nil
}
