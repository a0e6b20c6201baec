package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// values stand for the parameters of paths.
var values = map[string]string{
	"namespace": ours, "job": orders, "server": ordersIP, "ip": ordersIP, "item": "0", "dumpPort": "9888", "calendar": "bank",
	"execution": "exec-" + orders, "prefix": "z", "database": database,
}

// bodies are those that routes need to get to what they do; {} is that of all others.
var bodies = map[string]string{
	"PUT /api/jobs/config":              `{"jobName":"` + orders + `","cron":"0 0 0 1 1 ? 2098","shardingTotalCount":2}`,
	"POST /api/registry-center/connect": `{"name":"` + ours + `"}`,
	"POST /api/data-source/connect":     `{"name":"` + database + `"}`,
	"POST /api/event-trace/execution":   `{"pageNumber":1,"pageSize":10}`,
	"POST /api/event-trace/status":      `{"pageNumber":1,"pageSize":10}`,
}

// queries are those that routes need.
var queries = map[string]string{
	"GET /api/v1/cron": "expression=" + url.QueryEscape("0 0 0 1 1 ? 2099"),
}

var parameter = regexp.MustCompile(`\{[^}]+\}`)

// request returns a request of a route, with values for its parameters.
func request(r route.Route, method string) *http.Request {
	path := parameter.ReplaceAllStringFunc(r.Pattern, func(p string) string {
		if value, ok := values[strings.Trim(p, "{}")]; ok {
			return url.PathEscape(value)
		}
		return "x"
	})
	name := r.Method + " " + r.Pattern
	if query := queries[name]; query != "" {
		path += "?" + query
	}
	if method == http.MethodGet || method == http.MethodHead {
		return httptest.NewRequest(method, path, nil)
	}
	body := bodies[name]
	if body == "" {
		body = "{}"
	}
	asked := httptest.NewRequest(method, path, strings.NewReader(body))
	asked.Header.Set("Content-Type", "application/json")
	return asked
}
