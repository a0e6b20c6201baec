package legacy

import (
	"context"
	"errors"
	"net/http"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// Errors of requests.
var (
	errNoCenter = errors.New("no registry centre is activated: POST /api/registry-center/connect with its name first")
	errSome     = errors.New("you may see some jobs only: name the job that you ask about")
	errBody     = errors.New("body")
	errQuery    = errors.New("query")
	errPath     = errors.New("path")
	errType     = errors.New("the body has to be application/json")
	errNoLogin  = errors.New("there is no log-in by name and password here")
)

type statusErrors struct {
	status int
	errs   []error
}

// statuses returns those of errors, in the order in which they are looked for.
func statuses() []statusErrors {
	return []statusErrors{
		{http.StatusUnauthorized, []error{access.ErrRefused}},
		{http.StatusTooManyRequests, []error{access.ErrLimited}},
		{http.StatusForbidden, []error{errSome, errNoLogin, errCasdoor}},
		{http.StatusUnsupportedMediaType, []error{errType}},
		{http.StatusNotFound, []error{
			connection.ErrNoNamespace, connection.ErrNoDatabase, ops.ErrNoJob, ops.ErrNoServer,
			ops.ErrNoInstance, jobtype.ErrNoItem, history.ErrNotFound,
		}},
		{http.StatusServiceUnavailable, []error{
			access.ErrBusy, connection.ErrDatabaseAway, connection.ErrClosed, ops.ErrStoreAway, ops.ErrManyNamespaces, ops.ErrStoresClosed,
			coord.ErrUnavailable, coord.ErrUnknownOutcome, coord.ErrCompacted, coord.ErrClosed, coord.ErrSessionLost,
		}},
		{http.StatusGatewayTimeout, []error{context.Canceled}},
		{http.StatusBadGateway, []error{errUnreached, coord.ErrDenied}},
		{http.StatusConflict, []error{
			errNoCenter, connection.ErrFixed, connection.ErrInUse, connection.ErrMany, connection.ErrVersion, ops.ErrConfigChanged, ops.ErrBusy,
			ops.ErrMoving, ops.ErrMoved, jobtype.ErrKindConflict, jobtype.ErrNobodyRunsIt, jobtype.ErrOldMembers, jobtype.ErrQueueFull,
		}},
		{http.StatusBadRequest, []error{errBody, errQuery, errPath, history.ErrQuery, jobtype.ErrInvalidConfig, ops.ErrRequest, coord.ErrTooLarge}},
	}
}

// statusOf returns the HTTP status of an error.
func statusOf(err error) int {
	if status := route.Status(err); status != 0 {
		return status
	}
	if _, ok := errors.AsType[*connection.EntryError](err); ok {
		return http.StatusBadRequest
	}
	for _, s := range statuses() {
		for _, e := range s.errs {
			if errors.Is(err, e) {
				return s.status
			}
		}
	}
	return http.StatusInternalServerError
}
