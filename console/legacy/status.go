package legacy

import (
	"context"
	"errors"
	"net/http"

	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/coord"
)

// Errors of requests.
var (
	errNoCenter = route.NewError(http.StatusConflict, "", "no registry centre is activated: POST /api/registry-center/connect with its name first")
	errSome     = route.NewError(http.StatusForbidden, "", "you may see some jobs only: name the job that you ask about")
	errBody     = route.NewError(http.StatusBadRequest, "", "body")
	errQuery    = route.NewError(http.StatusBadRequest, "", "query")
	errPath     = route.NewError(http.StatusBadRequest, "", "path")
	errType     = route.NewError(http.StatusUnsupportedMediaType, "", "the body has to be application/json")
	errNoLogin  = route.NewError(http.StatusForbidden, "", "there is no log-in by name and password here")
	errCasdoor  = route.NewError(http.StatusForbidden, "", "there is no log-in of Casdoor's own here: give the console its OpenID Connect provider")
	// errUnreached comes with a word about why.
	errUnreached = route.NewError(http.StatusBadGateway, "", "the data source was not reached")
)

// statusOf returns the HTTP status of an error: that of the API, but for those that the old consoles do not have.
func statusOf(err error) int {
	status := route.Status(err)
	_, isEntry := errors.AsType[*connection.EntryError](err)
	switch {
	case isEntry && status == 0, status == http.StatusUnprocessableEntity:
		return http.StatusBadRequest
	case status == http.StatusPreconditionFailed:
		return http.StatusConflict
	case status == http.StatusConflict && errors.Is(err, coord.ErrUnknownOutcome): // it may have been done
		return http.StatusServiceUnavailable
	case status != 0:
		return status
	case errors.Is(err, context.Canceled):
		return http.StatusGatewayTimeout
	default:
		return http.StatusInternalServerError
	}
}
