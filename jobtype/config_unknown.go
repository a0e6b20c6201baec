package jobtype

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/jobconf"
)

// UnknownKeys returns the keys of a document that no version of ElasticJob has, ascending: DecodeConfig ignores them,
// and an operator may have mistyped them. Keys of props belong to types, so none of them is unknown.
//
// Errors: one for a document that cannot be read.
func UnknownKeys(document []byte) ([]string, error) {
	keys, err := parse(document)
	if err != nil {
		return nil, &ConfigError{Faults: []*FieldError{{Field: jobconf.KeyConfig, Err: err}}}
	}
	known := append(jobconf.OldKeys(), jobconf.KeyProps, jobconf.KeyThreadPool, jobconf.KeyThreadPoolOld, jobconf.KeyListeners, jobconf.KeyExtra)
	for _, f := range fields {
		known = append(known, f.key)
	}
	maps.DeleteFunc(keys, func(key string, _ *yaml.Node) bool { return slices.Contains(known, key) })
	return slices.Sorted(maps.Keys(keys)), nil
}
