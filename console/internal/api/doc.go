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
// What is made of the document follows: go test ./console -run 'TestTypesOfPages|TestClientIsGenerated' -write.
//
// An error that clients are to be told gets its class and its code where it is defined (package errclass), a row in
// docs/reference/http-api.md, and words in console/internal/page/words.
//
// A parameter or a field of a body that is not in the document is refused, so a filter with a typing
// error does not look like one that finds nothing.
//
// # Who may see only some jobs
//
// He learns nothing of others: neither names, nor counts, nor that they are there. Lists leave them out
// before they count and before they cut pages ([ops.Ops.Only]). A database of a history
// knows jobs by their names only: so a question about the past of a job needs those of its name in all namespaces whose
// history is in the same database, and one without a job needs all their jobs. What belongs to no job (processes, debris, the
// store) needs all jobs, too. An execution of another job is not there.
//
// # Bounds
//
// A list is read in pages of 1,000 rows at most, those with documents of 200; a job as a whole has 1,000 of its
// items, and says how many more there are. A timeline has 100,000 executions, as columns. One examination of a
// namespace runs at a time, for 25 s at most, and its report is for all who ask within 10 s. An answer of 8 KiB or more
// is compressed.
//
// # Not promised
//
//   - A list that is read in pages shows a job that is created or removed meanwhile, or not. That
//     of jobs may be a second or two old: asOf says it. If it is in the order of something that changes, a job may
//     come twice, or not at all.
//   - A fault says what a process says, also of what all its jobs share, such as their threads.
package api
