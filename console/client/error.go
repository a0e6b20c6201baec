package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/errclass"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Errors that are of the console, and not of what it steers.
var (
	// ErrNotLoggedIn: the token, or the name or password, is missing or wrong (401).
	ErrNotLoggedIn = errors.New("client: not logged in")
	// ErrDenied: who is logged in may not do this (403).
	ErrDenied = errors.New("client: not allowed")
	// ErrNoNamespace: the console has no namespace of that name.
	ErrNoNamespace = errclass.NotFound.New("no-namespace", "client: no such namespace")
	// ErrNoDatabase: the console has no database of that name.
	ErrNoDatabase = errclass.NotFound.New("no-database", "client: no such database")
	// ErrChanged: what was to change has another version than the one that was asked for (412).
	ErrChanged = errors.New("client: it has changed")
	// ErrInvalid: the request is wrong; Fields say where (422).
	ErrInvalid = errors.New("client: a bad request")
	// ErrLimited: too many requests or log-ins (429).
	ErrLimited = errors.New("client: too often")
	// ErrAway: the console, or its store, is away or busy (502, 503, 504).
	ErrAway = errors.New("client: away")
)

// Error is an answer that says what is wrong: a problem of RFC 9457.
type Error struct {
	// Request is what was asked, such as POST /namespaces/orders/jobs/settle/pause.
	Request string
	Status  int
	// Code says what kind of problem it is: no-job. It does not change between versions. Empty if something
	// between here and the console has answered.
	Code string
	// Detail is for people, in 2 KiB at most.
	Detail string
	// Fields say what is wrong with which part of the request.
	Fields []Field
	// Changes were made all the same, before something went wrong.
	Changes []ops.Change
	// RetryAfter is how long the console asks to wait; 0 if it says nothing.
	RetryAfter time.Duration
	// ID is that of the request in the console's log.
	ID string
}

// Field says what is wrong with a part of a request.
type Field struct {
	Field  string `json:"field"` // body.items, query.limit, or a key of a configuration
	Reason string `json:"reason"`
}

func (e *Error) Error() string {
	text := fmt.Sprintf("client: %s: %d", brief.Text(e.Request), e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Is reports whether the error is one of this package, or what the console has made a code of: an error of ops or
// of job, say. The code of several errors is none of them, but for ops.ErrStoreAway.
func (e *Error) Is(target error) bool {
	if known, ok := target.(*errclass.Error); ok {
		switch e.Code {
		case "", "invalid", "closing":
			return false
		case "store-away":
			return target == ops.ErrStoreAway
		}
		return known.Code == e.Code
	}
	switch target {
	case ErrNotLoggedIn:
		return e.Status == http.StatusUnauthorized
	case ErrDenied:
		return e.Status == http.StatusForbidden
	case ErrChanged:
		return e.Status == http.StatusPreconditionFailed
	case ErrInvalid:
		return e.Status == http.StatusUnprocessableEntity || e.Status == http.StatusBadRequest
	case ErrLimited:
		return e.Status == http.StatusTooManyRequests
	case ErrAway:
		return e.Status == http.StatusBadGateway || e.Status == http.StatusServiceUnavailable || e.Status == http.StatusGatewayTimeout
	}
	return false
}

// maxDetail bounds what is kept of an answer that is no problem, in bytes.
const maxDetail = 2 << 10

// errorOf reads an answer that is no success.
func errorOf(request string, answer *http.Response, text []byte) *Error {
	e := &Error{Request: request, Status: answer.StatusCode, ID: brief.Text(answer.Header.Get("X-Request-Id"))}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(min(seconds, 3600)) * time.Second
	}
	var p struct {
		Code, Detail string
		Errors       []Field
		Changes      []ops.Change
	}
	if err := json.Unmarshal(text, &p); err != nil || p.Code == "" {
		e.Detail = brief.Cut(string(text), maxDetail) // of a proxy, say
		return e
	}
	e.Code, e.Detail, e.Fields, e.Changes = brief.Text(p.Code), brief.Cut(p.Detail, maxDetail), p.Errors, p.Changes
	return e
}
