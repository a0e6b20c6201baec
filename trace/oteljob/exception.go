package oteljob

import (
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job"
)

// maxText bounds each text that comes from outside, in bytes.
const maxText = 4000

// clean makes a text fit to be exported: an exporter refuses all spans of a batch for one text
// that is no UTF-8.
func clean(text string) string { return strings.ToValidUTF8(brief.Cut(text, maxText), "\uFFFD") }

// exceptionOf describes an error by the semantic conventions for exceptions.
func exceptionOf(err error) []attribute.KeyValue {
	list := []attribute.KeyValue{semconv.ExceptionType(typeOf(err)), semconv.ExceptionMessage(textOf(err))}
	if p, ok := err.(*job.PanicError); ok {
		list = append(list, semconv.ExceptionStacktrace(clean(string(p.Stack))))
	}
	return list
}

// errorType is the attribute error.type, which has few values: how it failed, or the type of the
// error.
func errorType(f job.Event) attribute.KeyValue {
	switch f.Outcome {
	case job.OutcomePanic:
		return semconv.ErrorTypeKey.String("panic")
	case job.OutcomeTimeout:
		return semconv.ErrorTypeKey.String("timeout")
	}
	return semconv.ErrorTypeKey.String(typeOf(f.Err))
}

// typeOf names the type of an error, by OpenTelemetry's rules. The methods of an error are the
// user's: they may panic.
func typeOf(err error) (name string) {
	defer func() {
		if recover() != nil {
			name = fmt.Sprintf("%T", err)
		}
	}()
	return clean(semconv.ErrorType(err).Value.AsString())
}

// textOf returns the text of an error.
func textOf(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "its error has no text: the method Error panics"
		}
	}()
	return clean(err.Error())
}
