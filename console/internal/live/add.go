package live

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/console/internal/route"
)

// Frame adds an operation to the API, and to its document.
type Frame interface {
	Handle(need route.Need, op huma.Operation, stream bool, h http.Handler) error
}

// Add adds the two streams.
//
// Errors: those of the frame.
func (l *Live) Add(to Frame) error {
	const namespace = "/api/v1/namespaces/{namespace}"
	need := func(s route.Scope) route.Need { return route.Need{Scope: s, Role: access.Viewer} }
	return errors.Join(
		to.Handle(need(route.SomeJobs), l.operation("watch-jobs", namespace+"/watch", "namespaces", "What changes of the jobs of a namespace, as it does", aboutJobs, jobEvents(), "namespace"), true, http.HandlerFunc(l.serve)),
		to.Handle(need(route.Job), l.operation("watch-job", namespace+"/jobs/{job}/watch", "jobs", "What changes of a job, as it does", aboutJob, viewEvents(), "namespace", "job"), true, http.HandlerFunc(l.serve)),
	)
}

// What the document says of the streams.
const (
	aboutJobs = `Event reset: forget all jobs. Its data, and that of update, has jobs (as the list of jobs has them) to put by name, and ` +
		`removed, names of jobs to forget. With more, the next part comes at once; what you have is whole with the first event without it.` + aboutAll
	aboutJob = `Event job: all of the job, as GET of the job answers. With patches=true event patch may come instead: ` +
		`the values that have changed by their JSON pointers, null if they are gone, to be taken in one after the other.` + aboutAll
	aboutAll = ` Event fault: why what you have may be incomplete, or old, and then since when; an empty text says that this is over, as a new stream does. ` +
		`Event bye is the last one: code closing (the console ends: come again), denied (log-in or rights have ended), rights (what you may do has changed: come again) or removed (what you watch is gone). ` +
		`Whoever comes again with the id of his last event is told what has changed since, if that is known; else everything. ` +
		`Who is slow misses states in between, never the newest; who takes nothing for a while is cut off.`
)

func (l *Live) operation(id, path, tag, summary, about string, of []*huma.Schema, parameters ...string) huma.Operation {
	bounded := func(most int) *huma.Schema { return &huma.Schema{Type: huma.TypeString, MaxLength: &most} }
	op := huma.Operation{
		OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{tag}, Summary: summary, Description: about,
		Errors: []int{http.StatusTooManyRequests},
		Responses: map[string]*huma.Response{"200": {
			Description: fmt.Sprintf("Server-sent events; one at least every %v: beat if nothing changes.", l.o.Heartbeat),
			Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: events(of...)}},
		}},
	}
	for _, name := range parameters {
		op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "path", Required: true, Description: "Name of the " + name + ".", Schema: bounded(255)})
	}
	if slices.Contains(parameters, "job") {
		op.Parameters = append(op.Parameters, &huma.Param{Name: "patches", In: "query", Description: "Whether to be told what has changed, where that is shorter than all of the job.", Schema: &huma.Schema{Type: huma.TypeBoolean}})
	}
	op.Parameters = append(op.Parameters,
		&huma.Param{Name: "Last-Event-ID", In: "header", Description: "Id of the last event that you have got.", Schema: bounded(255)},
		&huma.Param{Name: "lastEventId", In: "query", Description: "The same, for those who cannot set headers.", Schema: bounded(255)})
	return op
}
