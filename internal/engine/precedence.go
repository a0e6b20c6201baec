package engine

import (
	"errors"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// checkPrecedence refuses a configuration that contradicts the precedence.
func checkPrecedence(p Precedence, c Config) error {
	fault := func(field, value, format string, args ...any) error {
		return &ConfigError{Job: c.Name, Faults: []*FieldError{{Field: field, Value: value, Err: fmt.Errorf(format, args...)}}}
	}
	switch {
	case p == PrecedenceRegistry:
	case c.Overwrite:
		return fault(jobconf.KeyOverwrite, "true", "contradicts %v; one of the two is allowed", p)
	case p == PrecedenceCode && c.Revision == 0:
		return fault(jobconf.KeyRevision, "0", "1 to %d are allowed with %v, which puts the largest in force", jobtype.MaxRevision, p)
	}
	return nil
}

// replaces reports whether the given configuration replaces a document in the registry.
func replaces(p Precedence, given Config, document []byte) bool {
	if given.Overwrite {
		return true
	}
	revision, known := revisionOf(document)
	return p == PrecedenceCode && known && given.Revision > revision
}

// revisionOf returns the revision of a document, even if other fields have faults.
func revisionOf(document []byte) (revision int, known bool) {
	c, err := jobtype.DecodeConfig(document)
	if faults, ok := errors.AsType[*ConfigError](err); ok {
		known := !slices.ContainsFunc(faults.Faults, func(f *FieldError) bool {
			return f.Field == jobconf.KeyConfig || f.Field == jobconf.KeyProps || f.Field == jobconf.KeyRevision
		})
		return c.Revision, known && faults.More == 0
	}
	return c.Revision, err == nil
}

// warnOfDifference logs that the program's configuration is not in force, and what to do about it.
func warnOfDifference(p Precedence, log *zap.Logger, given, registry Config, differ []string) {
	if len(differ) == 0 {
		return
	}
	do := "change the registry or the program, or let the program win: see WithPrecedence"
	if p == PrecedenceCode {
		do = fmt.Sprintf("raise Config.Revision above %d, if the program's is to be in force", registry.Revision)
	}
	log.Warn("the registry's configuration is in force, and this program's differs", zap.String("job", given.Name),
		zap.Strings("fields", differ), zap.Int("revision", given.Revision), zap.Int("registry's revision", registry.Revision), zap.String("do", do))
}
