package setup

import (
	"errors"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobconf"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// Replaces reports whether the given configuration replaces a document in the registry: because it
// says so (Overwrite), or because its revision is larger. A revision that cannot be read may be the
// larger one.
func Replaces(given jobtype.Config, document []byte) bool {
	if given.Overwrite {
		return true
	}
	revision, known := revisionOf(document)
	return known && given.Revision > revision
}

// Document encodes a configuration that takes the place of a document. Keys of other readers stay, such as those of JVM
// members' tracing; of a document that nobody can read there is nothing to keep.
func Document(c jobtype.Config, previous []byte) ([]byte, error) {
	document, err := c.Encode(previous)
	if err != nil {
		document, err = c.Encode(nil)
	}
	return document, err
}

// revisionOf returns the revision of a document, even if other fields have faults.
func revisionOf(document []byte) (revision int, known bool) {
	c, err := jobtype.DecodeConfig(document)
	if faults, ok := errors.AsType[*jobtype.ConfigError](err); ok {
		known := !slices.ContainsFunc(faults.Faults, func(f *jobtype.FieldError) bool {
			return f.Field == jobconf.KeyConfig || f.Field == jobconf.KeyProps || f.Field == jobconf.KeyRevision
		})
		return c.Revision, known && faults.More == 0
	}
	return c.Revision, err == nil
}

// warnOfDifference logs that the program's configuration is not in force, and what to do about it.
func warnOfDifference(log *zap.Logger, given, registry jobtype.Config) {
	differ := departures(given, registry, "%s: %s in code, %s in the registry")
	if len(differ) == 0 {
		return
	}
	log.Warn("the registry's configuration is in force, and this program's differs", zap.String("job", given.Name),
		zap.Strings("fields", differ), zap.Int("revision", given.Revision), zap.Int("registry's revision", registry.Revision),
		zap.String("do", fmt.Sprintf("if the program's is to be in force, set its Config.Revision to %d; else change the program; if it is another program, which has the job's name by mistake and does its items, too, give its job another name or namespace", registry.Revision+1)))
}

// Keep puts the registry's configuration in force. It refuses the configuration of another job.
func Keep(given *Settings, found jobtype.Config, modified int64, o *Options) (*Settings, error) {
	if err := CheckName(found, given.Name); err != nil {
		return nil, fmt.Errorf("configuration of job %s in the registry: %w", given.Name, err)
	}
	s, err := New(found, o, modified)
	if err != nil {
		return nil, fmt.Errorf("configuration of job %s in the registry: %w", given.Name, err)
	}
	warnOfDifference(o.Logger, given.Config, found)
	return s, nil
}

// CheckName returns an error if a configuration is that of another job.
func CheckName(c jobtype.Config, name string) error {
	if c.Name == name {
		return nil
	}
	fault := &jobtype.FieldError{Field: jobconf.KeyName, Value: brief.Quote(c.Name), Err: fmt.Errorf("%s is allowed", brief.Quote(name))}
	return &jobtype.ConfigError{Job: name, Faults: []*jobtype.FieldError{fault}}
}
