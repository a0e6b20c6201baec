package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/job/cronexpr"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/declare"
	"github.com/elasticjob-go/elasticjob/trace/history"
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

// coded is an error with the code and the status that clients get.
type coded struct {
	err    error
	status int
	code   string
}

// known are the errors that have a code. The first that fits counts.
var known = []coded{
	{route.ErrNobody, http.StatusUnauthorized, "not-logged-in"},
	{route.ErrDenied, http.StatusForbidden, "denied"},
	{route.ErrNoRoute, http.StatusNotFound, "no-route"},
	{route.ErrMethod, http.StatusMethodNotAllowed, "method-not-allowed"},
	{route.ErrPath, http.StatusBadRequest, "bad-path"},
	{route.ErrOrigin, http.StatusForbidden, "cross-origin"},
	{route.ErrHost, http.StatusMisdirectedRequest, "other-host"},
	{route.ErrTooLong, http.StatusRequestHeaderFieldsTooLarge, "too-long"},
	{route.ErrTooLarge, http.StatusRequestEntityTooLarge, "too-large"},
	{route.ErrOften, http.StatusTooManyRequests, "too-many-requests"},
	{route.ErrBusy, http.StatusServiceUnavailable, "busy-console"},
	{route.ErrClosed, http.StatusServiceUnavailable, "closing"},
	{route.ErrPanic, http.StatusInternalServerError, "internal"},

	{errRequest, http.StatusUnprocessableEntity, "invalid"},

	{access.ErrRefused, http.StatusUnauthorized, "refused"},
	{access.ErrLimited, http.StatusTooManyRequests, "limited"},
	{access.ErrBusy, http.StatusServiceUnavailable, "too-many-log-ins"},
	{access.ErrNoUser, http.StatusNotFound, "no-user"},
	{access.ErrNoToken, http.StatusNotFound, "no-token"},
	{access.ErrNoSession, http.StatusNotFound, "no-session"},
	{access.ErrChanged, http.StatusPreconditionFailed, "user-changed"},
	{access.ErrExists, http.StatusConflict, "exists"},
	{access.ErrLastAdmin, http.StatusConflict, "last-admin"},
	{access.ErrReadOnly, http.StatusConflict, "no-users-file"},
	{access.ErrLocked, http.StatusServiceUnavailable, "file-locked"},
	{access.ErrPassword, http.StatusUnprocessableEntity, "bad-password"},
	{access.ErrInvalid, http.StatusUnprocessableEntity, "invalid"},

	{connection.ErrNoNamespace, http.StatusNotFound, "no-namespace"},
	{connection.ErrNoDatabase, http.StatusNotFound, "no-database"},
	{connection.ErrDatabaseAway, http.StatusServiceUnavailable, "database-away"},
	{connection.ErrClosed, http.StatusServiceUnavailable, "closing"},
	{ops.ErrStoreAway, http.StatusServiceUnavailable, "store-away"},
	{ops.ErrStoresClosed, http.StatusServiceUnavailable, "closing"},
	{ops.ErrManyNamespaces, http.StatusServiceUnavailable, "too-many-namespaces"},

	{ops.ErrNoJob, http.StatusNotFound, "no-job"},
	{ops.ErrNoServer, http.StatusNotFound, "no-server"},
	{ops.ErrNoInstance, http.StatusNotFound, "no-instance"},
	{ops.ErrNoCalendar, http.StatusNotFound, "no-calendar"},
	{ops.ErrNotRemoved, http.StatusNotFound, "not-removed"},
	{ops.ErrNoHistory, http.StatusNotFound, "no-history"},
	{history.ErrNotFound, http.StatusNotFound, "no-execution"},
	{jobtype.ErrNoRequest, http.StatusNotFound, "no-request"},
	{jobtype.ErrNoItem, http.StatusNotFound, "no-item"},

	{ops.ErrConfigChanged, http.StatusPreconditionFailed, "config-changed"},
	{ops.ErrCalendarChanged, http.StatusPreconditionFailed, "calendar-changed"},
	{ops.ErrImplementationChanged, http.StatusPreconditionFailed, "implementation-changed"},

	{ops.ErrJobExists, http.StatusConflict, "job-exists"},
	{ops.ErrCalendarUsed, http.StatusConflict, "calendar-used"},
	{ops.ErrNotRunning, http.StatusConflict, "not-running"},
	{ops.ErrPaused, http.StatusConflict, "paused"},
	{ops.ErrNotPaused, http.StatusConflict, "not-paused"},
	{ops.ErrJVM, http.StatusConflict, "jvm-member"},
	{ops.ErrOldMember, http.StatusConflict, "old-member"},
	{ops.ErrBroadcast, http.StatusConflict, "broadcast"},
	{ops.ErrMoving, http.StatusConflict, "moving"},
	{ops.ErrMoved, http.StatusConflict, "moved"},
	{ops.ErrNothingFailed, http.StatusConflict, "nothing-failed"},
	{ops.ErrOtherSet, http.StatusConflict, "other-set"},
	{ops.ErrBusy, http.StatusConflict, "busy"},
	{jobtype.ErrQueueFull, http.StatusConflict, "queue-full"},
	{jobtype.ErrNobodyRunsIt, http.StatusConflict, "nobody-runs-it"},
	{jobtype.ErrKindConflict, http.StatusConflict, "kind-conflict"},
	{jobtype.ErrOldMembers, http.StatusConflict, "old-members"},
	{jobtype.ErrImplementationConflict, http.StatusConflict, "implementation-conflict"},
	{declare.ErrOldRevision, http.StatusConflict, "old-revision"},

	{jobtype.ErrKeyUsed, http.StatusUnprocessableEntity, "key-used"},
	{ops.ErrRequest, http.StatusUnprocessableEntity, "invalid"},
	{ops.ErrTicks, http.StatusUnprocessableEntity, "bad-ticks"},
	{history.ErrQuery, http.StatusUnprocessableEntity, "invalid"},
	{jobtype.ErrInvalidConfig, http.StatusUnprocessableEntity, "invalid-config"},
	{declare.ErrEmpty, http.StatusUnprocessableEntity, "empty"},

	{coord.ErrDenied, http.StatusBadGateway, "store-denies"},
	{coord.ErrTooLarge, http.StatusUnprocessableEntity, "too-large-for-the-store"},
	{coord.ErrUnknownOutcome, http.StatusServiceUnavailable, "unknown-outcome"},
	{coord.ErrUnavailable, http.StatusServiceUnavailable, "store-away"},
	{coord.ErrCompacted, http.StatusServiceUnavailable, "store-away"},
	{coord.ErrClosed, http.StatusServiceUnavailable, "store-away"},
	{context.DeadlineExceeded, http.StatusGatewayTimeout, "out-of-time"},
	{context.Canceled, http.StatusServiceUnavailable, "cancelled"},
}

// Codes returns the codes of all problems that have one of their own, for texts in the languages of people.
func Codes() []string {
	codes := []string{"bad-body", "body-too-large", "media-type", "no-precondition", "no-such-version", "unreadable"}
	for _, k := range slices.Concat(known, ofConnections) {
		codes = append(codes, k.code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// errRequest: a request asks for what its schema cannot say is wrong.
var errRequest = errors.New("not allowed")

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
	for _, k := range known {
		if errors.Is(err, k.err) {
			p := newProblem(k.status, k.code, err.Error(), fieldsOf(err)...)
			if limit, ok := errors.AsType[*access.LimitError](err); ok {
				p.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(limit.After.Seconds()))))
			}
			return p
		}
	}
	if fields := fieldsOf(err); len(fields) > 0 {
		return newProblem(http.StatusUnprocessableEntity, "invalid", err.Error(), fields...)
	}
	return newProblem(http.StatusInternalServerError, "internal", err.Error())
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
	return nil
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
