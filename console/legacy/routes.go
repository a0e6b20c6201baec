package legacy

import (
	"net/http"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// operation is one route.
type operation struct {
	method, pattern string
	need            route.Need
	where           func(*http.Request) (route.Place, error)
	// later is whether only 3.x has it: then it is always answered in its way.
	later bool
	// do returns what the answer has: see dialect.answer.
	do func(r *http.Request, d dialect) (any, error)
}

// operations returns all of them.
func (a *api) operations() []operation {
	var (
		open      = route.Need{Scope: route.Open}
		signedIn  = route.Need{Scope: route.SignedIn}
		root      = route.Need{Scope: route.Everything, Role: access.Admin}
		list      = route.Need{Scope: route.SomeJobs, Role: access.Viewer}
		everyJob  = route.Need{Scope: route.AllJobs, Role: access.Operator}
		view      = route.Need{Scope: route.Job, Role: access.Viewer}
		operate   = route.Need{Scope: route.Job, Role: access.Operator}
		configure = route.Need{Scope: route.Job, Role: access.Admin}
	)
	return []operation{
		{"POST", "/api/login", open, nil, true, a.login},
		{"GET", "/api/casdoor-login-url", open, nil, true, noCasdoor},
		{"POST", "/api/casdoor-login", open, nil, true, noCasdoor},

		{"GET", "/api/registry-center", signedIn, nil, false, a.listCenters},
		{"GET", "/api/registry-center/load", signedIn, nil, true, a.listCenters},
		{"GET", "/api/registry-center/activated", signedIn, nil, false, a.activatedCenter},
		{"POST", "/api/registry-center", root, nil, false, a.addCenter},
		{"POST", "/api/registry-center/add", root, nil, true, a.addCenter},
		{"DELETE", "/api/registry-center", root, nil, false, a.removeCenter},
		{"POST", "/api/registry-center/connect", signedIn, nil, false, a.connectCenter},

		{"GET", "/api/data-source", signedIn, nil, false, a.listSources},
		{"GET", "/api/data-source/load", signedIn, nil, true, a.listSources},
		{"GET", "/api/data-source/drivers", signedIn, nil, true, listDrivers},
		{"GET", "/api/data-source/activated", signedIn, nil, false, a.activatedSource},
		{"POST", "/api/data-source", root, nil, false, a.addSource},
		{"POST", "/api/data-source/add", root, nil, true, a.addSource},
		{"DELETE", "/api/data-source", root, nil, false, a.removeSource},
		{"POST", "/api/data-source/connectTest", root, nil, false, a.testSource},
		{"POST", "/api/data-source/connect", signedIn, nil, false, a.connectSource},

		{"GET", "/api/jobs/count", list, a.atCenter, false, a.countJobs},
		{"GET", "/api/jobs", list, a.atCenter, false, a.listJobs},
		{"GET", "/api/jobs/getAllJobsBriefInfo", list, a.atAnyCenter, true, a.listJobs},
		{"POST", "/api/jobs/{job}/trigger", operate, a.atCenter, false, a.triggerJob},
		{"POST", "/api/jobs/{job}/disable", operate, a.atCenter, false, a.disableJob},
		{"DELETE", "/api/jobs/{job}/disable", operate, a.atCenter, false, a.enableJob},
		{"POST", "/api/jobs/{job}/enable", operate, a.atCenter, true, a.enableJob},
		{"POST", "/api/jobs/{job}/shutdown", operate, a.atCenter, false, a.shutdownJob},
		{"GET", "/api/jobs/{job}/sharding", view, a.atCenter, false, a.listItems},
		{"POST", "/api/jobs/{job}/sharding/{item}/disable", operate, a.atCenter, false, a.disableItem},
		{"DELETE", "/api/jobs/{job}/sharding/{item}/disable", operate, a.atCenter, false, a.enableItem},
		{"POST", "/api/jobs/{job}/sharding/{item}/enable", operate, a.atCenter, true, a.enableItem},

		{"GET", "/api/jobs/config/{job}", view, a.atCenter, false, a.readSettings},
		{"PUT", "/api/jobs/config", configure, a.atJobOfBody, false, a.updateSettings},
		{"DELETE", "/api/jobs/config/{job}", configure, a.atCenter, false, a.removeJob},

		{"GET", "/api/servers/count", list, a.atCenter, false, a.countServers},
		{"GET", "/api/servers", list, a.atCenter, false, a.listServers},
		{"GET", "/api/servers/getAllServersBriefInfo", list, a.atAnyCenter, true, a.listServers},
		{"POST", "/api/servers/{ip}/disable", everyJob, a.atCenter, false, a.disableServer},
		{"DELETE", "/api/servers/{ip}/disable", everyJob, a.atCenter, false, a.enableServer},
		{"POST", "/api/servers/{ip}/enable", everyJob, a.atCenter, true, a.enableServer},
		{"POST", "/api/servers/{ip}/shutdown", everyJob, a.atCenter, false, a.shutdownServer},
		{"DELETE", "/api/servers/{ip}", everyJob, a.atCenter, false, a.removeServer},
		{"GET", "/api/servers/{ip}/jobs", list, a.atCenter, false, a.listJobsOn},
		{"POST", "/api/servers/{ip}/jobs/{job}/disable", operate, a.atCenter, false, a.disableServerJob},
		{"DELETE", "/api/servers/{ip}/jobs/{job}/disable", operate, a.atCenter, false, a.enableServerJob},
		{"POST", "/api/servers/{ip}/jobs/{job}/enable", operate, a.atCenter, true, a.enableServerJob},
		{"POST", "/api/servers/{ip}/jobs/{job}/shutdown", operate, a.atCenter, false, a.shutdownServerJob},
		{"DELETE", "/api/servers/{ip}/jobs/{job}", operate, a.atCenter, false, a.removeServerJob},
		{"POST", "/api/servers/{ip}/{dumpPort}/jobs/{job}/dump", configure, a.atCenter, true, a.dumpJob},

		{"GET", "/api/event-trace/execution", list, a.atSource, false, a.findExecutions},
		{"POST", "/api/event-trace/execution", list, a.atSource, true, a.searchExecutions},
		{"GET", "/api/event-trace/execution/jobNames", list, a.atSource, true, a.executionJobs},
		{"GET", "/api/event-trace/execution/jobNames/{prefix}", list, a.atSource, true, a.executionJobs},
		{"GET", "/api/event-trace/execution/ip", list, a.atSource, true, a.executionAddresses},
		{"GET", "/api/event-trace/execution/ip/{prefix}", list, a.atSource, true, a.executionAddresses},
		{"GET", "/api/event-trace/status", list, a.atSource, false, a.findStatuses},
		{"POST", "/api/event-trace/status", list, a.atSource, true, a.searchStatuses},
		{"GET", "/api/event-trace/status/jobNames", list, a.atSource, true, a.statusJobs},
		{"GET", "/api/event-trace/status/jobNames/{prefix}", list, a.atSource, true, a.statusJobs},
	}
}

// entry returns the route of an operation.
func (a *api) entry(o operation) route.Route {
	return route.Route{
		Method: o.method, Pattern: o.pattern, Need: o.need, Where: o.where,
		Fail: func(w http.ResponseWriter, r *http.Request, err error) {
			if statusOf(err) == http.StatusInternalServerError { // of whoever says who sends it: its text is for the log
				a.Slog.Error("console: nobody knows who sends a request", "path", brief.Text(r.URL.Path), "error", oneLine(err))
				err = route.ErrPanic
			}
			a.fail(w, r, dialectOf(r, o), err)
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			d := dialectOf(r, o)
			model, err := o.do(r, d)
			if err != nil {
				a.fail(w, r, d, err)
				return
			}
			a.answer(w, r, d, model)
		}),
	}
}
