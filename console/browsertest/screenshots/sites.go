package main

import (
	"context"
	"net/url"
)

// site is a page. act is JavaScript that is done before the picture.
type site struct{ name, path, act string }

const space = "/namespaces/demo"

// found returns all sites, with those of executions that have ended: one that runs would have ended at the next look.
func found(ctx context.Context, d *demo) ([]site, error) {
	const settled = space + "/jobs/settle-payments"
	sites := []site{
		{name: "home", path: "/"},
		{name: "failed", path: "/failed", act: press("#page [aria-expanded]")},
		{name: "retry-failed", path: "/failed", act: press("#page .blockhead button.first")},
		{name: "overview", path: space},
		{name: "jobs", path: space + "/jobs"},
		{name: "lanes", path: space + "/timeline?group=prefix"},
		{name: "create", path: space + "/create"},
		{name: "job", path: settled},
		{name: "job-without-instance", path: space + "/jobs/old-billing"},
		{name: "trigger", path: settled, act: press("#tools button.first")},
		{name: "settings", path: settled + "/settings"},
		{name: "changes", path: settled + "/changes"},
		{name: "history", path: space + "/history"},
		{name: "charts", path: space + "/history?tab=charts&job=settle-payments"},
		{name: "events", path: space + "/history?tab=events"},
		{name: "instances", path: space + "/instances", act: press(".fold button")},
		{name: "instances-by-job", path: space + "/instances?by=job"},
		{name: "servers", path: space + "/servers"},
		{name: "server", path: space + "/servers?server=127.0.0.11"},
		{name: "calendars", path: space + "/calendars"},
		{name: "calendar", path: space + "/calendars/weekends"},
		{name: "audit", path: space + "/audit"},
		{name: "connections", path: "/connections"},
		{name: "users", path: "/users"},
		{name: "account", path: "/account"},
		{name: "about", path: "/about"},
	}
	for _, outcome := range []string{"OK", "FAILED"} {
		var page struct {
			Rows []struct {
				ID string `json:"id"`
			} `json:"rows"`
		}
		if err := d.ask(ctx, space+"/history/executions?limit=1&outcomes="+outcome, &page); err != nil {
			return nil, err
		}
		for _, e := range page.Rows {
			sites = append(sites, site{name: "run-" + outcome, path: space + "/history/" + url.PathEscape(e.ID)})
		}
	}
	return sites, nil
}

// press clicks the first of some elements, if there is one.
func press(selector string) string {
	return "document.querySelector(" + `"` + selector + `"` + ")?.click()"
}
