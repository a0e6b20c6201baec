package legacy

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// page is a part of a list, and how many there are in all.
type page struct {
	Total int64 `json:"total"`
	Rows  any   `json:"rows"`
}

// past is what a request asks about: an activated data source.
type past struct {
	reader     history.Reader // nil if no data source is activated
	namespaces []string       // whose history is there
	who        *access.Principal
}

func (a *api) past(r *http.Request) (past, error) {
	p := access.From(r.Context())
	s, ok := a.source(p)
	if !ok {
		return past{who: p}, nil
	}
	reader, err := a.Connections.History(s)
	return past{reader, a.Connections.NamespacesOf(s), p}, err
}

// may reports whether the caller may see the rows of a job. A database knows jobs by their names only, so he has to
// see those of the name in each centre whose history is here; without a job, all jobs of all of them.
func (p past) may(job string) bool {
	if p.who.MayEverywhere(access.Viewer) {
		return true
	}
	return len(p.namespaces) > 0 && !slices.ContainsFunc(p.namespaces, func(name string) bool {
		if job == "" {
			return !p.who.MayAll(access.Viewer, name)
		}
		return !p.who.May(access.Viewer, name, job)
	})
}

// mustMay returns an error if the caller may not.
func (p past) mustMay(job string) error {
	switch {
	case p.may(job):
		return nil
	case job == "":
		return errSome
	default:
		return fmt.Errorf("%w: you may not see the job %s", errSome, brief.Quote(job))
	}
}

// Searches.

func (a *api) executions(r *http.Request, d dialect, s history.ExecutionSearch) (any, error) {
	p, err := a.past(r)
	if err != nil {
		return nil, err
	}
	if p.reader == nil {
		return page{Rows: []execution{}}, nil
	}
	if err := p.mustMay(s.Job); err != nil {
		return nil, err
	}
	found, err := p.reader.SearchExecutions(r.Context(), s)
	if err != nil {
		return nil, err
	}
	return page{found.Total, a.executionRows(d, found.Rows)}, nil
}

func (a *api) statuses(r *http.Request, d dialect, s history.StatusSearch) (any, error) {
	p, err := a.past(r)
	if err != nil {
		return nil, err
	}
	if p.reader == nil {
		return page{Rows: []status{}}, nil
	}
	if err := p.mustMay(s.Job); err != nil {
		return nil, err
	}
	found, err := p.reader.SearchStatuses(r.Context(), s)
	if err != nil {
		return nil, err
	}
	return page{found.Total, a.statusRows(d, found.Rows)}, nil
}

// findExecutions is the search of 2.1.5, by query.
func (a *api) findExecutions(r *http.Request, d dialect) (any, error) {
	search, err := a.queryOf(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	s := history.ExecutionSearch{Search: search, Job: q.Get("jobName"), IP: q.Get("ip")}
	if text := q.Get("isSuccess"); text != "" {
		ok, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%w: isSuccess %s: 1 and 0 are allowed", errQuery, brief.Quote(text))
		}
		s.Success = &ok
	}
	return a.executions(r, d, s)
}

func (a *api) findStatuses(r *http.Request, d dialect) (any, error) {
	search, err := a.queryOf(r)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	return a.statuses(r, d, history.StatusSearch{Search: search, Job: q.Get("jobName"), Source: q.Get("source"), ExecutionType: q.Get("executionType"), State: q.Get("state")})
}

// queryOf reads what both searches of 2.1.5 have.
func (a *api) queryOf(r *http.Request) (history.Search, error) {
	q := r.URL.Query()
	s := history.Search{Number: 1, Size: 10, Sort: q.Get("sort"), Descending: strings.EqualFold(q.Get("order"), "DESC")}
	for name, to := range map[string]*int{"page": &s.Number, "per_page": &s.Size} {
		if text := q.Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				return s, fmt.Errorf("%w: %s %s: a number is allowed", errQuery, name, brief.Quote(text))
			}
			*to = n
		}
	}
	for name, to := range map[string]*time.Time{"startTime": &s.From, "endTime": &s.To} {
		if text := q.Get(name); text != "" {
			at, err := time.ParseInLocation("2006-1-2 15:4:5", text, a.Zone)
			if err != nil {
				return s, fmt.Errorf("%w: %s %s: a time such as 2026-01-31 09:30:00 is allowed, in the zone %s", errQuery, name, brief.Quote(text), a.Zone)
			}
			*to = at
		}
	}
	return s, nil
}

// searchBody is what both searches of 3.x have.
type searchBody struct {
	PageSize   optional[number] `json:"pageSize"`
	PageNumber optional[number] `json:"pageNumber"`
	Sort       string           `json:"sort"`
	Order      string           `json:"order"`
	JobName    string           `json:"jobName"`
}

// search returns it as the history has it. Both times are outside of what is found, in 3.x.
func (b searchBody) search(from, to moment) history.Search {
	s := history.Search{Number: 1, Size: 10, Sort: b.Sort, Descending: strings.EqualFold(b.Order, "DESC")}
	if n := b.PageSize.value; n != nil {
		s.Size = int(*n)
	}
	if n := b.PageNumber.value; n != nil {
		s.Number = int(*n)
	}
	if !from.IsZero() {
		s.From = from.Add(time.Microsecond)
	}
	if !to.IsZero() {
		s.To = to.Add(-time.Microsecond)
	}
	return s
}

func (a *api) searchExecutions(r *http.Request, d dialect) (any, error) {
	var b struct {
		searchBody
		IP        string          `json:"ip"`
		IsSuccess optional[truth] `json:"isSuccess"`
		From      moment          `json:"startTimeFrom"`
		To        moment          `json:"startTimeTo"`
	}
	if _, err := decode(r, &b); err != nil {
		return nil, err
	}
	return a.executions(r, d, history.ExecutionSearch{Search: b.search(b.From, b.To), Job: b.JobName, IP: b.IP, Success: (*bool)(b.IsSuccess.value)})
}

func (a *api) searchStatuses(r *http.Request, d dialect) (any, error) {
	var b struct {
		searchBody
		Source        string `json:"source"`
		ExecutionType string `json:"executionType"`
		State         string `json:"state"`
		From          moment `json:"creationTimeFrom"`
		To            moment `json:"creationTimeTo"`
	}
	if _, err := decode(r, &b); err != nil {
		return nil, err
	}
	return a.statuses(r, d, history.StatusSearch{Search: b.search(b.From, b.To), Job: b.JobName, Source: b.Source, ExecutionType: b.ExecutionType, State: b.State})
}

// Names.

func (a *api) executionJobs(r *http.Request, _ dialect) (any, error) {
	return a.names(r, history.Reader.JobNames, past.may)
}

func (a *api) statusJobs(r *http.Request, _ dialect) (any, error) {
	return a.names(r, history.Reader.StatusJobNames, past.may)
}

// executionAddresses is for who may see all jobs: addresses have no jobs.
func (a *api) executionAddresses(r *http.Request, _ dialect) (any, error) {
	return a.names(r, history.Reader.Addresses, nil)
}

// names returns the names with the prefix of the path, without those that the caller may not see. The
// first history.MaxLimit are looked at.
func (a *api) names(r *http.Request, ask func(history.Reader, context.Context, string, int) ([]string, error), may func(past, string) bool) (any, error) {
	p, err := a.past(r)
	if err != nil {
		return nil, err
	}
	list := []string{}
	if p.reader == nil {
		return list, nil
	}
	if may == nil {
		if err := p.mustMay(""); err != nil {
			return nil, err
		}
	}
	names, err := ask(p.reader, r.Context(), r.PathValue("prefix"), history.MaxLimit)
	for _, name := range names {
		if may == nil || may(p, name) {
			list = append(list, name)
		}
	}
	return list, err
}
