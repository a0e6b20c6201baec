package job

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// keyExtra is ElasticJob's key for what its extensions add.
const keyExtra = "jobExtraConfigurations"

// UnknownKeys returns the keys of a document that no version of ElasticJob has, ascending: DecodeConfig ignores them,
// and an operator may have mistyped them. Keys of props belong to types, so none of them is unknown.
//
// Errors: one for a document that cannot be read.
func UnknownKeys(document []byte) ([]string, error) {
	keys, err := parseConfig(document)
	if err != nil {
		return nil, &ConfigError{Faults: []*FieldError{{Field: keyConfig, Err: err}}}
	}
	known := append(oldKeys(), keyProps, keyThreadPool, keyThreadPoolOld, keyListeners, keyExtra)
	for _, f := range (&Config{}).fields() {
		known = append(known, f.key)
	}
	maps.DeleteFunc(keys, func(key string, _ *yaml.Node) bool { return slices.Contains(known, key) })
	return slices.Sorted(maps.Keys(keys)), nil
}
