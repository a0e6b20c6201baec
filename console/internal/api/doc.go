// Package api is /api/v1: resources as package ops has them, described by an OpenAPI document that is
// made of the same types and rules by which requests are checked.
//
//	request ─► route.Table: may he? ─► parameters and body by their schemas ─► handler ─► JSON
//	               │ 401, 403, 404        │ 400, 422                             │ one mapping of errors
//	               └──────────────────────┴──────────────────────────────────────┴─► application/problem+json
//
// # To add an operation
//
// It has an input, whose fields are the parameters, an answer, and a Need, without which there is none:
//
//	register(a, viewer(route.Job), huma.Operation{
//		OperationID: "get-job", Method: http.MethodGet, Path: jobPath + "/detail", Summary: "…", Tags: jobs,
//	}, func(ctx context.Context, in *InJob) (*answer[ops.JobDetail], error) {
//		j, err := a.job(ctx) // in the name of who asks
//		…
//	})
//
// A parameter or a field of a body that is not in the document is refused, so a filter with a typing
// error does not look like one that finds nothing.
//
// # Who may see only some jobs
//
// He learns nothing of others: neither names, nor counts, nor that they are there. Lists leave them out
// before they count and before they cut pages. Questions about the past without a job need all jobs. What belongs to no job (processes, debris, the store) needs all jobs, too.
//
// # Not promised
//
//   - Two namespaces that have one database share the past of jobs of the same name.
//   - A list that is read in pages shows a job that is created or removed meanwhile, or not.
package api
