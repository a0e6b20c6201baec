package legacy

import (
	"context"
	"errors"
	"net/http"

	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/job"
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

// statuses are those of errors, in the order in which they are looked for.
var statuses = []struct {
	status int
	errs   []error
}{
	{http.StatusForbidden, []error{errSome, errNoLogin, errCasdoor}},
	{http.StatusUnsupportedMediaType, []error{errType}},
	{http.StatusNotFound, []error{
		connection.ErrNoNamespace, connection.ErrNoDatabase, ops.ErrNoJob, ops.ErrNoServer,
		ops.ErrNoInstance, job.ErrNoItem, history.ErrNotFound,
	}},
	{http.StatusServiceUnavailable, []error{ops.ErrStoreAway, ops.ErrManyNamespaces, ops.ErrStoresClosed, coord.ErrUnavailable, coord.ErrClosed, coord.ErrSessionLost}},
	{http.StatusGatewayTimeout, []error{context.Canceled}},
	{http.StatusConflict, []error{
		errNoCenter, ErrConflict, ErrExists, ops.ErrConfigChanged, ops.ErrBusy, ops.ErrMoving, job.ErrKindConflict, job.ErrNoInstance,
		job.ErrQueueFull,
	}},
	{http.StatusBadRequest, []error{errBody, errQuery, errPath, ErrInput, history.ErrQuery, job.ErrInvalidConfig}},
}

// statusOf returns the HTTP status of an error.
func statusOf(err error) int {
	if status := route.Status(err); status != 0 {
		return status
	}
	for _, s := range statuses {
		for _, e := range s.errs {
			if errors.Is(err, e) {
				return s.status
			}
		}
	}
	return http.StatusInternalServerError
}
