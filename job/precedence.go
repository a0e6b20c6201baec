package job

import (
	"errors"
	"fmt"
	"slices"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/jobtype"

	"go.uber.org/zap"
)

// Precedence says which configuration is in force if the program's differs from the
// registry's when a scheduler starts. See [WithPrecedence].
type Precedence int

// The values of a Precedence.
const (
	// PrecedenceRegistry: the registry's configuration is in force. A warning in the log
	// lists the fields that differ. This is the default.
	PrecedenceRegistry Precedence = iota

	// PrecedenceCode: the program's configuration replaces the registry's if its
	// Config.Revision is larger; that happens once for each revision. Otherwise the
	// registry's stays in force, with a warning if they differ. So the newest one wins, even
	// if old and new processes start at the same time, and an operator's change stays until
	// the next revision. A configuration in the registry that has faults is replaced, too,
	// unless its revision cannot be read: it may be the newer one. Needs a Config.Revision.
	PrecedenceCode

	// PrecedenceNone: the start is refused with ErrConfigDiffers.
	PrecedenceNone
)

func (p Precedence) String() string {
	switch p {
	case PrecedenceRegistry:
		return "PrecedenceRegistry"
	case PrecedenceCode:
		return "PrecedenceCode"
	case PrecedenceNone:
		return "PrecedenceNone"
	}
	return fmt.Sprintf("Precedence(%d)", int(p))
}

// WithPrecedence sets which configuration is in force if the program's differs from the
// registry's. The default is PrecedenceRegistry; Config.Overwrite is allowed only with it. If
// the registry has no configuration yet, the program's is written in any case.
func WithPrecedence(p Precedence) Option {
	return func(o *options) error {
		if p < PrecedenceRegistry || p > PrecedenceNone {
			return fmt.Errorf("job: %v: PrecedenceRegistry, PrecedenceCode and PrecedenceNone are allowed", p)
		}
		o.precedence = p
		return nil
	}
}

// check refuses a configuration that contradicts the precedence.
func (p Precedence) check(c Config) error {
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
func (p Precedence) replaces(given Config, document []byte) bool {
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

// warn logs that the program's configuration is not in force, and what to do about it.
func (p Precedence) warn(log *zap.Logger, given, registry Config, differ []string) {
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
