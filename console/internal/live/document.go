package live

import "github.com/danielgtaylor/huma/v2"

// Names of schemas of the API that events have.
const (
	schemaJob  = "#/components/schemas/JobInfo"
	schemaView = "#/components/schemas/JobView"
)

// events is the schema of a stream: OpenAPI has none for server-sent events, so it is written as a list of them.
func events(of ...*huma.Schema) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeArray, Items: &huma.Schema{OneOf: of},
		Description: "Each row stands for an event: lines of text with event, id and data, as the HTML standard has them, and a line that is empty. Data is one line of JSON. " +
			"Lines that begin with a colon are to be passed over.",
	}
}

// event is the schema of one event.
func event(name, title, about string, data *huma.Schema) *huma.Schema {
	s := object(title, about, map[string]*huma.Schema{
		"event": {Type: huma.TypeString, Enum: []any{name}, Description: "Name of the event."},
		"id":    {Type: huma.TypeString, Description: "Id of the event, for Last-Event-ID. Events fault, beat and bye have none."},
		"data":  data,
	})
	s.Required = []string{"event", "data"}
	return s
}

func object(title, about string, properties map[string]*huma.Schema) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, Title: title, Description: about, Properties: properties}
}

func text(about string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: about} }

// ends are the schemas of the events of all streams.
func ends() []*huma.Schema {
	fault := object("Fault", "What a fault says.", map[string]*huma.Schema{
		"fault": text("Why what you have may be incomplete or old. Empty if that is over."),
		"since": {Type: huma.TypeString, Format: "date-time", Description: "Since when what you have may be old: next ticks that have come meanwhile say nothing. Left out if it is only incomplete."},
	})
	bye := object("Bye", "What the end of a stream says.", map[string]*huma.Schema{
		"code":   text("Why the stream ends: closing (the console ends: come again), denied (log-in or rights have ended), rights (what you may do has changed: come again) or removed (what you watch is gone)."),
		"reason": text("The same, for people."),
	})
	beat := object("Beat", "It says nothing, but that the stream is there.", nil)
	fault.Required, bye.Required = []string{"fault"}, []string{"code", "reason"}
	return []*huma.Schema{
		event(eventFault, "FaultEvent", "What you have may be incomplete or old, or is no longer.", fault),
		event("beat", "BeatEvent", "Nothing has changed for a while.", beat),
		event(eventBye, "ByeEvent", "The last event of a stream.", bye),
	}
}

// jobEvents are the schemas of the events of a namespace.
func jobEvents() []*huma.Schema {
	jobs := func(title string) *huma.Schema {
		return object(title, "What is new of jobs.", map[string]*huma.Schema{
			"jobs":    {Type: huma.TypeArray, Items: &huma.Schema{Ref: schemaJob}, Description: "Jobs to put by their names. Left out if there are none."},
			"removed": {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}, Description: "Names of jobs to forget. Left out if there are none."},
			"more":    {Type: huma.TypeBoolean, Description: "Whether the next part comes at once."},
		})
	}
	return append([]*huma.Schema{
		event(eventReset, "ResetEvent", "Forget all jobs: these are the first of those that there are.", jobs("Reset")),
		event(eventUpdate, "UpdateEvent", "Jobs that are new or have changed, and those that are gone.", jobs("Update")),
	}, ends()...)
}

// viewEvents are the schemas of the events of a job.
func viewEvents() []*huma.Schema {
	job := &huma.Schema{Ref: schemaView, Description: "All of the job, as GET of the job answers."}
	patch := object("Patch", "What has changed of the job: values by their JSON pointers (RFC 6901), to be taken in one after the other. One that is null is gone. A pointer into what is not there is to be passed over.", nil)
	patch.AdditionalProperties = true
	return append([]*huma.Schema{
		event(eventJob, "JobEvent", "The newest state of the job.", job),
		event(eventPatch, "PatchEvent", "What of the job has changed, with patches=true.", patch),
	}, ends()...)
}
