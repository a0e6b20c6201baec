package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/httpx"
	"github.com/elasticjob-go/elasticjob/job/dump"
)

// DumpOf asks the dump service of a process.
func DumpOf(ctx context.Context, address, token, job string) (d dump.Dump, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/dump/"+url.PathEscape(job)+"?mask=false", nil)
	if err != nil {
		return d, exit.Errorf(exit.Usage, "--address: %w", httpx.WithoutURL(err))
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	const most = 8 * dump.MaxBytes // JSON has six bytes for one at most
	answer, err := httpx.Exchange(&http.Transport{DisableKeepAlives: true}, r, most)
	switch {
	case err == nil && answer.Status == http.StatusOK:
		err = json.Unmarshal(answer.Body, &d)
	case err == nil:
		err = fmt.Errorf("the process says: %s", brief.Cut(strings.TrimSpace(strings.TrimPrefix(string(answer.Body), "error: ")), 1000))
	}
	if err == nil {
		return d, nil
	}
	code := exit.Of(err)
	switch _, isAway := errors.AsType[*net.OpError](err); {
	case isAway:
		code = exit.Unreachable
	case answer.Status == http.StatusNotFound:
		code = exit.NotFound
	case answer.Status == http.StatusUnauthorized:
		code = exit.Denied
	case strings.Contains(err.Error(), dump.ErrBusy.Error()):
		code = exit.Conflict
	}
	return d, exit.Errorf(code, "dump: %s: %w", address, err)
}
