package oteljob

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/elasticjob-go/elasticjob/job"
)

// The attributes that OpenTelemetry has no name for. The table in the package comment says what
// they mean.
const (
	keyJob       = attribute.Key("elasticjob.job.name")
	keyNamespace = attribute.Key("elasticjob.namespace")
	keyInstance  = attribute.Key("elasticjob.instance.id")
	keyTick      = attribute.Key("elasticjob.tick")
	keyRequest   = attribute.Key("elasticjob.request.id")
	keyItem      = attribute.Key("elasticjob.item")
	keySource    = attribute.Key("elasticjob.source")
	keyTask      = attribute.Key("elasticjob.task.id")
	keyOriginal  = attribute.Key("elasticjob.original_task.id")
	keyToken     = attribute.Key("elasticjob.token")
	keyWaited    = attribute.Key("elasticjob.waited")
	keyOutcome   = attribute.Key("elasticjob.outcome")
	keyAttempts  = attribute.Key("elasticjob.attempts")
	keyAttempt   = attribute.Key("elasticjob.attempt")
	keyBackoff   = attribute.Key("elasticjob.backoff")
	keyItems     = attribute.Key("elasticjob.executions")
	keyFailed    = attribute.Key("elasticjob.executions.failed")
	keyLink      = attribute.Key("elasticjob.link")
	keyReason    = attribute.Key("elasticjob.reason")
)

// triggerOf says by FaaS's words why a tick runs: by the kind of its key.
func triggerOf(kind job.Source) attribute.KeyValue {
	if kind == job.SourceNormal {
		return semconv.FaaSTriggerTimer
	}
	return semconv.FaaSTriggerOther
}

// timeText returns a scheduled time as RFC 3339 has it.
func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
