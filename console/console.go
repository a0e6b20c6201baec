package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/access/oidc"
	"github.com/elasticjob-go/elasticjob/console/connection"
	"github.com/elasticjob-go/elasticjob/console/internal/api"
	"github.com/elasticjob-go/elasticjob/console/internal/guard"
	"github.com/elasticjob-go/elasticjob/console/internal/live"
	"github.com/elasticjob-go/elasticjob/console/internal/page"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// Limits bound requests. Zero ones have their defaults.
type Limits = guard.Limits

// Routes are routes that come from a package of their own. See Options.Mount.
type Routes interface{ route.Router }

// Options say what a console has.
type Options struct {
	// Connections are the namespaces and databases; they stay the caller's, who closes them after the console.
	Connections *connection.Book
	// Access is who may log in, and what they may do; it stays the caller's, who closes it after the console.
	Access *access.Control
	// OIDC is a provider where they log in, too; nil if there is none. Its Sessions are Access.
	OIDC *oidc.Login
	// Who returns who sends a request; nil if nobody is logged in. It replaces Access, for a program
	// that knows its users.
	Who func(*http.Request) (*access.Principal, error)
	// Again is Who for those who listen to a stream, who are looked up again and again: it should not count as use of a
	// session. Default Who, or what Access has for that.
	Again func(*http.Request) (*access.Principal, error)
	// Address returns where a request is from. Default that of Access; without it, the connection's other end.
	Address func(*http.Request) netip.Addr
	// Hosts are the names by which clients may call the console, without ports. Empty: any. Name them, and
	// a page of another site cannot get at a console on loopback by a name of its own (DNS rebinding).
	Hosts []string
	// Origins are those of pages that may change something, beside the console's own: https://host:port. A
	// proxy that replaces the header Host needs that.
	Origins []string
	// Secure is whether browsers come by TLS alone, although a proxy before the console ends that.
	Secure bool
	// Limits bound requests.
	Limits Limits
	// Findings say from when on something is a finding.
	Findings doctor.Thresholds
	// OpenMetrics lets anybody read /metrics. Default: those who may see everything.
	OpenMetrics bool
	// Collectors are shown beside the console's own metrics.
	Collectors []prometheus.Collector
	// Mount are routes that a console has by choice: those of ElasticJob's consoles, from package console/legacy.
	Mount []Routes
	// Version is that of the program; who is logged in sees it.
	Version string
	// Slog gets each request, and what goes wrong. nil is silence.
	Slog *slog.Logger
}

// Console is the server of a console. It is safe for use by several goroutines.
type Console struct {
	o       Options
	table   *route.Table
	guard   *guard.Guard
	metrics *guard.Metrics
	live    *live.Live
	pages   *page.Pages
	close   []func(context.Context) error // in this order
}

// New returns a console. Close it.
//
// Errors: one that says which option is wrong.
func New(o Options) (*Console, error) {
	switch {
	case o.Connections == nil:
		return nil, errors.New("console: Connections are missing")
	case o.Access == nil && o.Who == nil:
		return nil, errors.New("console: Access or Who is missing: nobody could log in")
	case o.Access != nil && o.Who != nil:
		return nil, errors.New("console: Access and Who: allowed is one of them")
	case o.Access != nil:
		o.Who, o.Again = o.Access.Authenticate, o.Access.Again
		if o.Address == nil {
			o.Address = o.Access.Address
		}
	}
	if o.Slog == nil {
		o.Slog = slog.New(slog.DiscardHandler)
	}
	if o.Again == nil {
		o.Again = o.Who
	}
	c := &Console{o: o}
	var err error
	watch := live.Options{
		Ops: o.Connections.Ops, Who: o.Again, Fail: api.Fail, Detail: writeDetail, Listeners: o.Limits.Streams, WriteTimeout: o.Limits.Write, Log: o.Slog,
	}
	if o.Access != nil {
		watch.Changed = o.Access.Changed
	}
	if c.live, err = live.New(watch); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	if c.metrics, err = guard.NewMetrics(append(o.Collectors, connections{o.Connections}, streams{c.live})...); err != nil {
		return nil, fmt.Errorf("console: Collectors: %w", err)
	}
	table := &route.Table{Who: o.Who, Fail: c.fail}
	if c.guard, err = guard.New(table, guard.Options{
		Limits: o.Limits, Hosts: o.Hosts, Origins: o.Origins, Secure: o.Secure, Address: o.Address, Metrics: c.metrics, Log: o.Slog,
	}); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c.table = table
	if err := c.addRoutes(table); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	c.close = append(c.close, c.live.Close, c.guard.Close) // a stream says good-bye before it is ended
	return c, nil
}

// addRoutes adds all that a console answers.
func (c *Console) addRoutes(table *route.Table) error {
	o := api.Options{Connections: c.o.Connections, Access: c.o.Access, Jobs: c.live.Jobs, Findings: c.o.Findings, Version: c.o.Version}
	if c.o.OIDC != nil {
		o.LogoutURL = c.o.OIDC.LogoutURL
	}
	v1, err := api.Add(table, o)
	if err != nil {
		return err
	}
	for _, routes := range c.o.Mount {
		if err := table.Mount(routes); err != nil {
			return fmt.Errorf("option Mount: %w", err)
		}
	}
	return errors.Join(v1.AddConnections(c.o.Connections), c.live.Add(v1), c.addProvider(table), c.addProbes(table), c.addPages(table))
}

// addPages adds the pages.
func (c *Console) addPages(table *route.Table) error {
	o := page.Options{Connections: c.o.Connections, Passwords: c.o.Access != nil, Users: c.o.Access != nil, Version: c.o.Version}
	if c.o.OIDC != nil {
		o.Provider = oidc.LoginPath
	}
	var err error
	c.pages, err = page.Add(table, o)
	return err
}

// addProvider adds the log-in by a provider.
func (c *Console) addProvider(table *route.Table) error {
	if c.o.OIDC == nil {
		return nil
	}
	c.close = append(c.close, func(context.Context) error {
		c.o.OIDC.Close()
		return nil
	})
	c.o.OIDC.OnRefusal(func(w http.ResponseWriter, r *http.Request, status int, reason string) {
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			c.pages.Refuse(w, r, status, reason)
			return
		}
		http.Error(w, reason, status)
	})
	return addAll(table, c.o.OIDC.Routes())
}

func addAll(table *route.Table, routes []route.Route) error {
	for _, r := range routes {
		if err := table.Add(r); err != nil {
			return err
		}
	}
	return nil
}

// writeDetail writes all of a job for a stream, as the API does.
func writeDetail(d *ops.JobDetail) ([]byte, error) { return json.Marshal(api.Detail(d)) }

// ServeHTTP answers a request.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) { c.guard.ServeHTTP(w, r) }

// Metrics shows the metrics to anybody: for a listener of its own.
func (c *Console) Metrics() http.Handler { return c.metrics.Handler() }

// Close ends all streams, and waits for them as long as ctx allows. Other requests go on: wait for them by
// Shutdown of the http.Server, which in turn would wait for streams.
func (c *Console) Close(ctx context.Context) error {
	var err error
	for _, end := range c.close {
		err = errors.Join(err, end(ctx))
	}
	return err
}

// fail answers a request that has no route, and for routes that do not say how: to programs as the API does, to people by a page.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case strings.HasPrefix(r.URL.Path, api.Prefix):
		api.Fail(w, r, err)
		return
	case c.pages != nil && page.Wanted(r):
		c.pages.Fail(w, r, err)
		return
	}
	status := route.Status(err)
	if status == 0 { // of whoever says who sends the request: its text is for the log
		status, err = http.StatusInternalServerError, route.ErrPanic
	}
	http.Error(w, err.Error(), status)
}
