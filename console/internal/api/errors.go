package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/errclass"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Problem is the answer to a request that cannot be done (RFC 9457).
type Problem struct {
	Type   string `json:"type" format:"uri" doc:"Kind of the problem, as a URI: it ends with the code." example:"urn:problem-type:elasticjob:no-job"`
	Code   string `json:"code" doc:"Kind of the problem, for programs. It does not change between versions." example:"no-job"`
	Title  string `json:"title" doc:"What the status means." example:"Not Found"`
	Status int    `json:"status" doc:"Status of the answer." example:"404"`
	Detail string `json:"detail" doc:"What is wrong, for people." example:"job settle: settings: ops: no such job"`
	// Errors name what is wrong with the request. A value is never repeated: it may be a secret.
	Errors []FieldError `json:"errors,omitempty" doc:"What is wrong with which part of the request: the first ones." nullable:"false"`
	// Changes are those that were made before something went wrong.
	Changes []ops.Change `json:"changes,omitempty" doc:"What has changed all the same: entries of the audit." nullable:"false"`

	header http.Header
}

// FieldError says what is wrong with a part of a request.
type FieldError struct {
	Field  string `json:"field" doc:"Where: path, query, header or body with the name behind it, or a field of a job's configuration." example:"query.limit"`
	Reason string `json:"reason" doc:"What is wrong, and what is allowed." example:"expected number <= 1000"`
}

const (
	problemType = "application/problem+json"
	typePrefix  = "urn:problem-type:elasticjob:"
)

// Bounds of a problem.
const (
	maxDetail = 2 << 10 // bytes
	maxFields = 50
)

func newProblem(status int, code, detail string, fields ...FieldError) *Problem {
	p := &Problem{
		Type: typePrefix + code, Code: code, Title: http.StatusText(status), Status: status, Detail: brief.Cut(detail, maxDetail),
		Errors: fields[:min(len(fields), maxFields)], header: http.Header{},
	}
	for i := range p.Errors {
		f := &p.Errors[i]
		f.Field, f.Reason = brief.Text(f.Field), brief.Cut(f.Reason, 5*brief.MaxText)
	}
	switch status {
	case http.StatusUnauthorized:
		p.header.Set("WWW-Authenticate", "Bearer") // RFC 9110 asks for one; Basic would make a browser ask for a password
	case http.StatusServiceUnavailable:
		p.header.Set("Retry-After", "5")
	}
	return p
}

// Error is the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is of huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders is of huma.HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType is of huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return problemType }

// refuse returns an error that says what is wrong with a part of a request.
func refuse(field, format string, args ...any) *Problem {
	reason := fmt.Sprintf(format, args...)
	return newProblem(http.StatusUnprocessableEntity, "invalid", field+": "+reason, FieldError{field, reason})
}

// ProblemOf returns what a client is told of an error.
func ProblemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	fields := fieldsOf(err)
	status, code := http.StatusInternalServerError, "internal"
	ofRoute, isOfRoute := errors.AsType[*route.Error](err)
	classed := errclass.Coded(err)
	switch {
	case isOfRoute:
		status, code = ofRoute.Status, ofRoute.Code
	case classed != nil:
		status, code = route.StatusOf(classed.Class), classed.Code
	case errors.Is(err, context.DeadlineExceeded):
		status, code = http.StatusGatewayTimeout, "out-of-time"
	case errors.Is(err, context.Canceled):
		status, code = http.StatusServiceUnavailable, "cancelled"
	case len(fields) > 0:
		status, code = http.StatusUnprocessableEntity, "invalid"
	}
	p := newProblem(status, code, err.Error(), fields...)
	if limit, ok := errors.AsType[*access.LimitError](err); ok {
		p.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(limit.After.Seconds()))))
	}
	return p
}

// fieldsOf returns the fields that an error is about.
func fieldsOf(err error) []FieldError {
	var fields []FieldError
	if config, ok := errors.AsType[*jobtype.ConfigError](err); ok {
		for _, fault := range config.Faults {
			fields = append(fields, FieldError{fault.Field, fault.Err.Error()})
		}
		return fields
	}
	if wrong, ok := errors.AsType[*ops.RequestError](err); ok {
		return []FieldError{{"body." + wrong.Field, wrong.Error()}}
	}
	if cron, ok := errors.AsType[*cronexpr.ParseError](err); ok {
		return []FieldError{{"cron", cron.Error()}}
	}
	return entryFields(err)
}

// entryFields returns all fields of a connection that an error is about.
func entryFields(err error) (fields []FieldError) {
	switch e := err.(type) {
	case *connection.EntryError:
		return []FieldError{{"body." + e.Field, e.Err.Error()}}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			fields = append(fields, entryFields(inner)...)
		}
	case interface{ Unwrap() error }:
		return entryFields(e.Unwrap())
	}
	return fields
}

// transform makes a problem of an error of huma: what does not fit the schema of a request.
func transform(_ huma.Context, _ string, body any) (any, error) {
	model, ok := body.(*huma.ErrorModel)
	if !ok {
		return body, nil
	}
	var fields []FieldError
	for _, e := range model.Errors {
		if e != nil {
			fields = append(fields, FieldError{e.Location, reasonOf(e.Message)}) // without its Value
		}
	}
	detail := model.Detail
	if len(fields) > 0 {
		detail = fields[0].Field + ": " + fields[0].Reason
	}
	return newProblem(model.Status, codeOf(model.Status), detail, fields...), nil
}

// reasonOf is a reason of huma, with what is allowed where it does not say so.
func reasonOf(message string) string {
	switch {
	case strings.HasPrefix(message, "invalid date/time for format "+time.RFC3339Nano[:4]): // a layout of Go's
		return "a time as in RFC 3339 is allowed, such as 2026-01-31T15:04:05Z"
	case strings.HasPrefix(message, huma.ErrUnknownContentType.Error()):
		return message + ": application/json is allowed"
	}
	return message
}

// codeOf is the code of what huma refuses.
func codeOf(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "bad-body"
	case http.StatusRequestEntityTooLarge:
		return "body-too-large"
	case http.StatusUnsupportedMediaType:
		return "media-type"
	case http.StatusRequestTimeout:
		return "out-of-time"
	case http.StatusUnprocessableEntity:
		return "invalid"
	}
	return "http-" + strconv.Itoa(status)
}

// Fail answers a request with what went wrong, as a problem: for routes of /api/v1, and where there is none.
func Fail(w http.ResponseWriter, _ *http.Request, err error) {
	p := ProblemOf(err)
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client is gone
}
