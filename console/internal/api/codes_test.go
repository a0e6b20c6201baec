package api

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/client"
)

// Who branches on a sentinel finds it in the errors of the client, too, but for those that no caller of the API can
// do anything about.
func TestCodesInTheClient(t *testing.T) {
	general := []error{client.ErrNotLoggedIn, client.ErrDenied, client.ErrNoNamespace, client.ErrAway, client.ErrLimited, client.ErrInvalid}
	fine := []string{"no-route", "method-not-allowed", "other-host", "too-long", "too-large", "internal", "exists", "no-users-file", "no-database", "old-revision"}
	for _, k := range known {
		e := &client.Error{Status: k.status, Code: k.code}
		isGeneral := slices.ContainsFunc(general, func(g error) bool { return errors.Is(e, g) })
		if !errors.Is(e, k.err) && !isGeneral && !slices.Contains(fine, k.code) {
			t.Errorf("%s is nothing that a caller can branch on", k.code)
		}
		for _, other := range known {
			if other.err != k.err && other.code != k.code && errors.Is(e, other.err) {
				t.Errorf("%s is %v, too", k.code, other.err)
			}
		}
		if http.StatusText(k.status) == "" {
			t.Errorf("%s has no status", k.code)
		}
	}
}
