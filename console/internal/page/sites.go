package page

import (
	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// site is a page: its module and its words have its name.
type site struct {
	name    string
	pattern string
	need    route.Need
	// nav is the entry of the navigation that is marked while the page is shown. Default name.
	nav string
}

const inNamespace = "/namespaces/{namespace}"

// sites are all pages. The log-in is not among them: it is shown in place of each of them.
//
// A page needs what the API needs for that without which it would be empty. A name that nobody knows is found out by the
// page, as it asks the API: so all names look the same here.
var sites = []site{
	{name: "home", pattern: "/", need: route.Need{Scope: route.SignedIn}},
	{name: "failed", pattern: "/failed", need: route.Need{Scope: route.SignedIn}},
	{name: "account", pattern: "/account", need: route.Need{Scope: route.SignedIn}},
	{name: "about", pattern: "/about", need: route.Need{Scope: route.SignedIn}},
	{name: "connections", pattern: "/connections", need: everything},
	{name: "users", pattern: "/users", need: everything},
	{name: "overview", pattern: inNamespace, need: some},
	{name: "jobs", pattern: inNamespace + "/jobs", need: some},
	{name: "lanes", pattern: inNamespace + "/timeline", need: some, nav: "jobs"},
	{name: "create", pattern: inNamespace + "/create", need: some, nav: "jobs"},
	{name: "job", pattern: inNamespace + "/jobs/{job}", need: one, nav: "jobs"},
	{name: "settings", pattern: inNamespace + "/jobs/{job}/settings", need: one, nav: "jobs"},
	{name: "changes", pattern: inNamespace + "/jobs/{job}/changes", need: one, nav: "jobs"},
	{name: "history", pattern: inNamespace + "/history", need: some},
	{name: "run", pattern: inNamespace + "/history/{execution}", need: some, nav: "history"},
	{name: "instances", pattern: inNamespace + "/instances", need: some},
	{name: "servers", pattern: inNamespace + "/servers", need: some},
	{name: "calendars", pattern: inNamespace + "/calendars", need: some},
	{name: "calendar", pattern: inNamespace + "/calendars/{calendar}", need: some, nav: "calendars"},
	{name: "audit", pattern: inNamespace + "/audit", need: some},
}

var (
	some       = route.Need{Scope: route.SomeJobs, Role: access.Viewer}
	one        = route.Need{Scope: route.Job, Role: access.Viewer}
	everything = route.Need{Scope: route.Everything, Role: access.Admin}
)

// inNavigation are the entries for a namespace, and those for the console.
var (
	inNavigation = []string{"overview", "jobs", "history", "instances", "servers", "calendars", "audit"}
	ofConsole    = []string{"connections", "users"}
)

// marks returns the entry of the navigation that stands for the page.
func (s site) marks() string {
	if s.nav != "" {
		return s.nav
	}
	return s.name
}
