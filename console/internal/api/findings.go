package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops/doctor"
)

// Bounds of examinations.
const (
	// examineTime bounds one: the route has 30 s.
	examineTime = 25 * time.Second
	// keepReport is how long a report is given to others who ask.
	keepReport = 10 * time.Second
)

func (a *API) addFindings() {
	register(a, viewer(route.SomeJobs), huma.Operation{
		OperationID: "list-findings", Method: http.MethodGet, Path: namespacePath + "/findings", Tags: tagNamespaces, Summary: "What is wrong, and what to do about it",
		Description: "The worst first. It takes 5 s longer if something looks wrong, to look again. A report is the same for all who ask within 10 s. " +
			"The store and how many jobs there are is told to those who may see all jobs.",
	}, a.findings)
}

// FindingsInput says which findings are wanted.
type FindingsInput struct {
	InNamespace
	Severity string `query:"severity" enum:"info,warning,critical" default:"info" doc:"The least severity."`
	Job      string `query:"job" maxLength:"255" doc:"Name of the job that they are about."`
	Limit    int    `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"How many at most: the worst ones. The field more says how many more there are."`
}

func (a *API) findings(ctx context.Context, in *FindingsInput) (*answer[doctor.Report], error) {
	var least doctor.Severity
	if err := least.UnmarshalText([]byte(in.Severity)); err != nil {
		return nil, refuse("query.severity", "%v", err)
	}
	o, err := a.ops(ctx)
	if err != nil {
		return nil, err
	}
	report, err := a.examinations.of(ctx, route.At(ctx).Namespace, func(ctx context.Context) (doctor.Report, error) {
		ctx, cancel := context.WithTimeout(ctx, examineTime)
		defer cancel()
		past, _ := o.History() // without one, less is found
		return doctor.Examine(ctx, o.Registry(), doctor.Options{History: past, Thresholds: a.Findings})
	})
	if err != nil {
		return nil, err
	}
	all := seesAll(ctx)
	if !all {
		report = doctor.Report{At: report.At, Looks: report.Looks, Findings: report.Findings} // the rest counts others' jobs
	}
	return &answer[doctor.Report]{some(report, in.Limit, func(f *doctor.Finding) bool {
		return f.Severity >= least && (in.Job == "" || f.Job == in.Job) && (all || f.Job != "" && sees(ctx, f.Job)) && (!f.Kind.IsOfHistory() || a.seesPast(ctx, f.Job))
	})}, nil
}

// some returns a report with the first of the findings that are wanted, and counts the others of these.
func some(r doctor.Report, limit int, wanted func(*doctor.Finding) bool) doctor.Report {
	all := r.Findings
	r.Findings = []doctor.Finding{}
	for i := range all {
		switch {
		case !wanted(&all[i]):
		case len(r.Findings) < limit:
			r.Findings = append(r.Findings, all[i])
		default:
			r.More++
		}
	}
	return r
}

// examinations share reports: of each namespace there is one examination at a time.
//
//	none ──► under way ──► done, for keepReport ──► none
//	            │ who has begun it goes away, or it fails: who waits begins another one, or fails
//	            └──► none
type examinations struct {
	mu    sync.Mutex
	known map[string]*examination
}

type examination struct {
	done   chan struct{} // closed at the end; then the rest is set
	report doctor.Report
	err    error
	ended  time.Time
}

func (e *examinations) of(ctx context.Context, namespace string, examine func(context.Context) (doctor.Report, error)) (doctor.Report, error) {
	for {
		x, isMine := e.join(namespace)
		if isMine {
			e.run(ctx, namespace, x, examine)
			return x.report, x.err
		}
		select {
		case <-x.done:
		case <-ctx.Done():
			return doctor.Report{}, context.Cause(ctx)
		}
		if !errors.Is(x.err, errGone) {
			return x.report, x.err
		}
	}
}

// errGone: who has begun an examination has gone away.
var errGone = errors.New("whoever has asked is gone")

// join returns the examination that is under way, or a report that is kept; if there is neither, a new one,
// which is for the caller to run.
func (e *examinations) join(namespace string) (x *examination, isMine bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, x := range e.known {
		if !x.ended.IsZero() && time.Since(x.ended) >= keepReport {
			delete(e.known, name)
		}
	}
	if x := e.known[namespace]; x != nil {
		return x, false
	}
	x = &examination{done: make(chan struct{})}
	if e.known == nil {
		e.known = map[string]*examination{}
	}
	e.known[namespace] = x
	return x, true
}

func (e *examinations) run(ctx context.Context, namespace string, x *examination, examine func(context.Context) (doctor.Report, error)) {
	err := errGone // also if it panics
	var report doctor.Report
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		x.report, x.err, x.ended = report, err, time.Now()
		if err != nil {
			delete(e.known, namespace)
		}
		close(x.done)
	}()
	if report, err = examine(ctx); err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", errGone, err)
	}
}
