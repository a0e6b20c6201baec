package legacy

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/ops"
)

// dumpJob answers with the text of a dump, masked. ElasticJob connects to whatever address and port the
// caller names. Here nothing is connected to: the registry is read, whatever the port.
func (a *api) dumpJob(r *http.Request, _ dialect) (any, error) {
	if port, err := strconv.ParseUint(r.PathValue("dumpPort"), 10, 16); err != nil || port == 0 {
		return nil, fmt.Errorf("%w: port %s: 1 to 65535 are allowed", errPath, brief.Quote(r.PathValue("dumpPort")))
	}
	j, err := a.job(r)
	if err != nil {
		return nil, err
	}
	servers, err := j.Servers(r.Context())
	if err != nil {
		return nil, err
	}
	ip := r.PathValue("ip")
	if !slices.ContainsFunc(servers, func(s ops.JobServer) bool { return s.Server == ip }) {
		return nil, fmt.Errorf("server %s: %w", brief.Quote(ip), ops.ErrNoServer)
	}
	d, err := j.Dump(r.Context())
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	if err := d.WithoutSecrets().Masked().WriteText(&text); err != nil {
		return nil, err
	}
	return text.String(), nil
}
