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
	"namespace": ours, "job": orders, "address": ordersIP, "ip": ordersIP, "item": "0", "dumpPort": "9888", "calendar": "bank",
	"execution": "exec-" + orders, "prefix": "z", "database": database, "user": "anna", "token": "deploy",
}

// bodies are those that routes need to get to what they do; {} is that of all others.
var bodies = map[string]string{
	"PUT /api/jobs/config":                           `{"jobName":"` + orders + `","cron":"0 0 0 1 1 ? 2098","shardingTotalCount":2}`,
	"POST /api/registry-center/connect":              `{"name":"` + ours + `"}`,
	"POST /api/data-source/connect":                  `{"name":"` + database + `"}`,
	"POST /api/event-trace/execution":                `{"pageNumber":1,"pageSize":10}`,
	"POST /api/event-trace/status":                   `{"pageNumber":1,"pageSize":10}`,
	"POST /api/registry-center":                      center,
	"POST /api/registry-center/add":                  center,
	"DELETE /api/registry-center":                    `{"name":"` + ours + `"}`,
	"POST /api/data-source":                          source,
	"POST /api/data-source/add":                      source,
	"POST /api/data-source/connectTest":              source,
	"DELETE /api/data-source":                        `{"name":"` + database + `"}`,
	"POST /api/v1/login":                             `{"name":"anna","password":"` + password + `"}`,
	"POST /api/v1/users":                             `{"name":"berta","grants":[{"role":"viewer","namespaces":["*"],"jobs":["*"]}]}`,
	"PUT /api/v1/users/{user}":                       `{"grants":[{"role":"admin","namespaces":["*"],"jobs":["*"]}],"disabled":false}`,
	"POST /api/v1/users/{user}/tokens":               `{"name":"t1"}`,
	"POST /api/v1/me/tokens":                         `{"name":"t1"}`,
	"PUT " + jobPath + "/settings":                   settings,
	"POST " + jobPath + "/plan":                      settings,
	"PATCH " + jobPath + "/settings":                 `{"description":"other"}`,
	"POST " + jobPath + "/items/disable":             `{"items":[0]}`,
	"POST " + jobPath + "/items/enable":              `{"items":[1]}`,
	"POST " + jobPath + "/servers/disable":           `{"all":true}`,
	"POST " + jobPath + "/servers/enable":            `{"all":true}`,
	"POST " + jobPath + "/servers/remove":            `{"servers":["` + ordersIP + `"]}`,
	"POST " + jobPath + "/shutdown":                  `{"servers":["` + ordersIP + `"]}`,
	"PUT " + jobPath + "/items/{item}/pin":           `{"address":"` + ordersIP + `"}`,
	"POST " + jobPath + "/backfill":                  `{"from":"2098-01-01T00:00:00Z","to":"2099-02-01T00:00:00Z"}`,
	"PUT " + namespacePath + "/calendars/{calendar}": `{"document":"timeZone: UTC\ndates: [2098-01-01]\n"}`,
	"POST " + namespacePath + "/calendars:plan":      `{"document":"timeZone: UTC"}`,
	"POST " + namespacePath + "/jobs:batch":          `{"action":"pause","jobs":["` + orders + `"]}`,
}

const (
	namespacePath = "/api/v1/namespaces/{namespace}"
	jobPath       = namespacePath + "/jobs/{job}"
	settings      = `{"config":{"jobName":"` + orders + `","cron":"0 0 0 1 1 ? 2098","shardingTotalCount":2}}`
	center        = `{"name":"n1","zkAddressList":"127.0.0.1:1","namespace":"n"}`
	source        = `{"name":"d1","driver":"org.postgresql.Driver","url":"jdbc:postgresql://127.0.0.1:1/d","username":"u"}`
)

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
	asked.Header.Set("If-Match", "*")
	return asked
}
