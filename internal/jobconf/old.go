package jobconf

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
)

// The keys of the flat JSON of elastic-job 2.1.x that 3.0.x does not know.
const (
	KeyOldClass           = "jobClass"
	KeyOldType            = "jobType"
	KeyOldStrategyClass   = "jobShardingStrategyClass"
	KeyOldMonitorPort     = "monitorPort"
	KeyOldProperties      = "jobProperties"
	KeyOldErrorHandler    = "job_exception_handler"
	KeyOldExecutorService = "executor_service_handler"
	KeyOldStreaming       = "streamingProcess"
	KeyOldScript          = "scriptCommandLine"
)

// OldKeys returns the keys that are not written. In a document of 3.0.x their values have
// other keys, or none: jobClass and jobType are the value of the job's node, monitorPort is
// gone. A class that makes thread pools means the default, as in a JVM that cannot load it.
func OldKeys() []string {
	return []string{KeyOldClass, KeyOldType, KeyOldStrategyClass, KeyOldMonitorPort, KeyOldProperties, KeyOldStreaming, KeyOldScript}
}

// IsOld reports whether a document has keys that only elastic-job 2.1 writes.
func IsOld(document []byte) bool {
	keys, err := Parse(document)
	return err == nil && HasOldKeys(keys)
}

// HasOldKeys reports whether keys are among those that only elastic-job 2.1 writes.
func HasOldKeys(keys map[string]*yaml.Node) bool {
	return slices.ContainsFunc(OldKeys(), func(key string) bool { _, ok := keys[key]; return ok })
}

// OldType returns jobType of a document, in capital letters; empty if it has none.
func OldType(document []byte) string { return strings.ToUpper(oldText(document, KeyOldType)) }

// OldWork returns what does the work of a job by a document of elastic-job 2.1, which leaves the job's node empty: its
// class, or SCRIPT, because the class of scripts is ElasticJob's own. It is empty if the document does not say so.
func OldWork(document []byte) string {
	if t := OldType(document); t == "SCRIPT" {
		return t
	}
	return oldText(document, KeyOldClass)
}

func oldText(document []byte, key string) string {
	keys, err := Parse(document)
	if err != nil {
		return ""
	}
	n, ok := keys[key]
	if !ok || yamldoc.IsNull(n) {
		return ""
	}
	text, err := yamldoc.Text(n)
	if err != nil {
		return ""
	}
	return text
}

// Extensions returns the keys of a document that only extensions of ElasticJob read, if they have a value of their own.
func Extensions(document []byte) (keys []string) {
	all, err := Parse(document)
	if err != nil {
		return nil
	}
	if n, ok := all[KeyExtra]; ok && len(yamldoc.Resolve(n).Content) > 0 { // ElasticJob 3 writes an empty list
		keys = append(keys, KeyExtra)
	}
	if n, ok := all[KeyOldProperties]; ok {
		properties, err := yamldoc.Mapping(n)
		if err != nil {
			return keys
		}
		class, ok := properties[KeyOldExecutorService]
		if ok && !strings.HasSuffix(class.Value, ".DefaultExecutorServiceHandler") {
			keys = append(keys, KeyOldProperties+"."+KeyOldExecutorService)
		}
	}
	return keys
}
