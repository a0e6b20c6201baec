package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/internal/veil"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// PutSettingsInput says how a job is to run.
type PutSettingsInput struct {
	InJob
	InDryRun
	InVersion
	Body SettingsBody
}

// SettingsBody is a configuration, in one of two forms.
type SettingsBody struct {
	Config         ConfigKeys `json:"config,omitempty" doc:"The configuration by ElasticJob's keys; or give the document."`
	Document       string     `json:"document,omitempty" maxLength:"524288" doc:"Instead of config: the same as text, YAML or JSON, as the registry has it."`
	Implementation string     `json:"implementation,omitempty" maxLength:"1000" doc:"Of a new job: what runs it, such as a class, or SCRIPT. Default: the name of the job. Implement changes it later."`
}

// SettingsChanged is the answer to a change of settings. It has no ETag: what is kept of the document before
// is not in the request, so read it before the next change.
type SettingsChanged struct {
	Changed
	Created bool `json:"created,omitempty" doc:"Whether the job was created."`
}

// PatchSettingsInput says what of a configuration is to change.
type PatchSettingsInput struct {
	InJob
	InDryRun
	InIfMatch
	Body ConfigPatch `contentType:"application/merge-patch+json"`
}

// ImplementInput says what is to run a job. It needs no If-Match: the body says which implementation is replaced.
type ImplementInput struct {
	InJob
	InDryRun
	IfMatch string `header:"If-Match" maxLength:"1000" doc:"ETag that the settings of the job have to have, or * for any. Default: any, as from says what is replaced."`
	Body    ImplementBody
}

// ImplementBody says what is to run a job.
type ImplementBody struct {
	From string `json:"from" maxLength:"1000" doc:"Implementation that the job has to have now; may be empty."`
	To   string `json:"to" minLength:"1" maxLength:"1000" doc:"The one that it gets."`
}

// RemoveJobInput says how a job is to be removed.
type RemoveJobInput struct {
	InJob
	InDryRun
	InIfMatch
	Why string `query:"why" maxLength:"255" doc:"Why, for people."`
}

type statusAnswer[T any] struct {
	Status int
	Body   T
}

func (a *API) addSettingsChanges() {
	created := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[SettingsChanged](), true, "")
	versions := []int{http.StatusConflict, http.StatusPreconditionFailed, http.StatusPreconditionRequired}
	register(a, admin(route.Job), huma.Operation{
		OperationID: "put-settings", Method: http.MethodPut, Path: jobPath + "/settings", Tags: tagJobs, Summary: "Create a job, or replace its configuration",
		Description: "If-None-Match: * creates, If-Match replaces; one of them is needed. Keys of the document in the registry that this server does not know stay. " +
			"Keys that nobody knows are refused. A job that was removed may be created again.",
		Errors: versions, DefaultStatus: http.StatusOK,
		Responses: map[string]*huma.Response{"201": {Description: "Created", Content: map[string]*huma.MediaType{"application/json": {Schema: created}}}},
	}, a.putSettings)
	register(a, admin(route.Job), huma.Operation{
		OperationID: "patch-settings", Method: http.MethodPatch, Path: jobPath + "/settings", Tags: tagJobs, Summary: "Change some keys of a configuration",
		Description: "A JSON merge patch (RFC 7396) for config of the settings: null takes a key away, so it has its default. " +
			"Keys of props that are not named stay, too; null for props itself takes away all of them, also schedule.calendars and the others that ElasticJob has no key for.",
		Errors: versions, DefaultStatus: http.StatusOK,
	}, a.patchSettings)
	register(a, admin(route.Job), huma.Operation{
		OperationID: "implement-job", Method: http.MethodPost, Path: jobPath + "/implement", Tags: tagJobs, Summary: "Give a job another implementation",
		Description: "Processes that run the job under the old name run on, with a fault, until they end.",
		Errors:      []int{http.StatusConflict, http.StatusPreconditionFailed}, DefaultStatus: http.StatusOK,
	}, a.implement)
	register(a, admin(route.Job), huma.Operation{
		OperationID: "remove-job", Method: http.MethodDelete, Path: jobPath, Tags: tagJobs, Summary: "Remove a job",
		Description: "With all that the registry has of it. Handlers that run are told to end. No program sets it up again, until it is readmitted or created. " +
			"If-Match is needed, with the ETag of its settings.",
		Errors: versions, DefaultStatus: http.StatusOK,
	}, a.removeJob)
	register(a, admin(route.Job), huma.Operation{
		OperationID: "readmit-job", Method: http.MethodPost, Path: jobPath + "/readmit", Tags: tagJobs, Summary: "Let programs set up a job again that was removed",
		Errors: []int{http.StatusConflict}, DefaultStatus: http.StatusOK,
	}, a.readmit)
}

func (a *API) putSettings(ctx context.Context, in *PutSettingsInput) (*statusAnswer[SettingsChanged], error) {
	want, err := in.precondition()
	if err != nil {
		return nil, err
	}
	document, err := in.Body.text(in.Job)
	if err != nil {
		return nil, err
	}
	out := &statusAnswer[SettingsChanged]{Status: http.StatusOK}
	out.Body.Changed, err = a.change(ctx, in.InDryRun, func(o *ops.Ops) error {
		if want.isNew {
			out.Status, out.Body.Created = http.StatusCreated, true
			return create(ctx, o, in, document)
		}
		return a.update(ctx, o.Job(in.Job), in, document, want)
	})
	return out, err
}

// text returns the document of a configuration.
func (b *SettingsBody) text(job string) ([]byte, error) {
	if (len(b.Config) > 0) == (b.Document != "") {
		return nil, refuse("body", "one of config and document is needed")
	}
	if b.Document != "" {
		return []byte(b.Document), nil
	}
	b.Config.name(job)
	return json.Marshal(b.Config)
}

// decode reads a configuration of a job that somebody has written. Keys that nobody knows are refused, but for
// those that the registry has already. Secrets that were hidden when it was shown are again what before has.
func decode(name string, document, before []byte) (jobtype.Config, error) {
	document, err := veil.Restore(document, before)
	if err != nil {
		return jobtype.Config{}, refuse("body", "%v", err)
	}
	c, err := jobtype.DecodeConfig(document)
	if err != nil {
		return c, err
	}
	if c.Name != name {
		return c, refuse("jobName", "it is the configuration of another job than that of the path")
	}
	unknown, err := jobtype.UnknownKeys(document)
	if err != nil {
		return c, err
	}
	old, _ := jobtype.UnknownKeys(before) // what cannot be read has none that are to stay
	unknown = slices.DeleteFunc(unknown, func(key string) bool { return slices.Contains(old, key) })
	if len(unknown) == 0 {
		return c, nil
	}
	fields := make([]FieldError, len(unknown))
	for i, key := range unknown {
		fields[i] = FieldError{key, "no configuration has this key"}
	}
	return c, newProblem(http.StatusUnprocessableEntity, "invalid-config", "a configuration has not these keys", fields...)
}

func create(ctx context.Context, o *ops.Ops, in *PutSettingsInput, document []byte) error {
	c, err := decode(in.Job, document, nil)
	if err != nil {
		return err
	}
	err = o.Create(ctx, ops.CreateRequest{Config: c, Implementation: in.Body.Implementation})
	if errors.Is(err, ops.ErrJobExists) {
		return newProblem(http.StatusPreconditionFailed, "job-exists", err.Error(), FieldError{"header.If-None-Match", "there is such a job"})
	}
	return err
}

func (a *API) update(ctx context.Context, j *ops.Job, in *PutSettingsInput, document []byte, want wanted) error {
	if in.Body.Implementation != "" {
		return refuse("body.implementation", "only for a job that is new; see implement")
	}
	there, err := j.Settings(ctx)
	if err != nil && !errors.Is(err, jobtype.ErrInvalidConfig) { // such a one may be replaced
		return err
	}
	c, err := decode(in.Job, document, there.Document)
	if err != nil {
		return err
	}
	if want.isAny {
		want.version = there.Version
	}
	return j.Update(ctx, ops.UpdateRequest{Config: c, Version: want.version})
}

func (a *API) patchSettings(ctx context.Context, in *PatchSettingsInput) (*answer[SettingsChanged], error) {
	want, err := in.precondition()
	if err != nil {
		return nil, err
	}
	out := &answer[SettingsChanged]{}
	out.Body.Changed, err = a.change(ctx, in.InDryRun, func(o *ops.Ops) error {
		there, err := o.Job(in.Job).Settings(ctx)
		if errors.Is(err, jobtype.ErrInvalidConfig) {
			return newProblem(http.StatusConflict, "unreadable", err.Error()) // nobody can say what a patch of it is
		}
		if err != nil {
			return err
		}
		keys, err := configKeys(there.Config)
		if err != nil {
			return err
		}
		document, err := json.Marshal(mergePatch(keys, in.Body))
		if err != nil {
			return err
		}
		c, err := decode(in.Job, document, there.Document)
		if err != nil {
			return err
		}
		if want.isAny {
			want.version = there.Version
		}
		return o.Job(in.Job).Update(ctx, ops.UpdateRequest{Config: c, Version: want.version})
	})
	return out, err
}

// mergePatch returns an object with a patch (RFC 7396). Both are left as they are.
func mergePatch(there, patch map[string]any) map[string]any {
	merged := make(map[string]any, len(there))
	for key, value := range there {
		merged[key] = value
	}
	for key, value := range patch {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(merged, key)
		case isObject:
			below, _ := merged[key].(map[string]any) // what is no object gives way
			merged[key] = mergePatch(below, inner)
		default:
			merged[key] = value
		}
	}
	return merged
}

func (a *API) implement(ctx context.Context, in *ImplementInput) (*answer[Changed], error) {
	want, err := readIfMatch(cmp.Or(in.IfMatch, "*"))
	if err != nil {
		return nil, err
	}
	return a.plainly(ctx, in.InDryRun, func(o *ops.Ops) error {
		return o.Job(in.Job).Implement(ctx, ops.ImplementRequest{From: in.Body.From, To: in.Body.To, Version: want.version})
	})
}

func (a *API) removeJob(ctx context.Context, in *RemoveJobInput) (*answer[Changed], error) {
	want, err := in.precondition()
	if err != nil {
		return nil, err
	}
	return a.plainly(ctx, in.InDryRun, func(o *ops.Ops) error {
		return o.Job(in.Job).Remove(ctx, ops.RemoveRequest{Why: in.Why, Version: want.version})
	})
}

// Readmit is the body of a request to readmit a job.
type Readmit struct {
	Moved bool `json:"moved,omitempty" doc:"Also if it was moved to another namespace, and does not run there any more."`
}

func (a *API) readmit(ctx context.Context, in *InSteer[Readmit]) (*answer[Changed], error) {
	r := ops.ReadmitRequest{Moved: in.Body != nil && in.Body.Moved}
	return a.plainly(ctx, in.InDryRun, func(o *ops.Ops) error { return o.Readmit(ctx, in.Job, r) })
}

// plainly is change for an answer that says nothing else.
func (a *API) plainly(ctx context.Context, in InDryRun, do func(*ops.Ops) error) (*answer[Changed], error) {
	changed, err := a.change(ctx, in, do)
	return &answer[Changed]{changed}, err
}
