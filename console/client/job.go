package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/elasticjob-go/elasticjob/job/dump"
	"github.com/elasticjob-go/elasticjob/ops"
)

// Job is a job of a namespace.
type Job struct {
	n    *Namespace
	name string
}

// Job returns a job by its name. Nothing is asked for yet.
func (n *Namespace) Job(name string) *Job { return &Job{n, name} }

func (j *Job) path(segments ...string) []string {
	return j.n.path(append([]string{"jobs", j.name}, segments...)...)
}

// Detail is all that there is to know of a job, with up to 1,000 rows in each list.
type Detail struct {
	ops.JobDetail
	More struct {
		Items     int `json:"items,omitempty"`
		Instances int `json:"instances,omitempty"`
		Servers   int `json:"servers,omitempty"`
		Faults    int `json:"faults,omitempty"`
		Requests  int `json:"requests,omitempty"`
	} `json:"more,omitzero"` // how many rows are left out
}

// Describe returns all that there is to know of the job.
//
// Errors: ops.ErrNoJob.
func (j *Job) Describe(ctx context.Context) (Detail, error) {
	return get[Detail](ctx, j.n.c, nil, j.path()...)
}

// Info returns what the list of jobs shows of the job.
func (j *Job) Info(ctx context.Context) (ops.JobInfo, error) {
	return get[ops.JobInfo](ctx, j.n.c, nil, j.path("info")...)
}

// Items goes over the items of the job, by number.
func (j *Job) Items(ctx context.Context) iter.Seq2[ops.ItemInfo, error] {
	return pages[ops.ItemInfo](ctx, j.n.c, query(), j.path("items")...)
}

// Instances goes over the instances of the job, by id.
func (j *Job) Instances(ctx context.Context) iter.Seq2[ops.InstanceInfo, error] {
	return pages[ops.InstanceInfo](ctx, j.n.c, query(), j.path("instances")...)
}

// Servers goes over the servers of the job, by address.
func (j *Job) Servers(ctx context.Context) iter.Seq2[ops.JobServer, error] {
	return pages[ops.JobServer](ctx, j.n.c, query(), j.path("servers")...)
}

// Requests goes over the requests of the job, the oldest first.
func (j *Job) Requests(ctx context.Context) iter.Seq2[ops.RequestState, error] {
	return pages[ops.RequestState](ctx, j.n.c, query(), j.path("requests")...)
}

// Dump returns all nodes that the registry has of the job. If it is masked, addresses are replaced.
func (j *Job) Dump(ctx context.Context, masked bool) (dump.Dump, error) {
	return get[dump.Dump](ctx, j.n.c, query().text("mask", strconv.FormatBool(masked)).Values, j.path("dump")...)
}

// Settings are how a job is to run.
type Settings struct {
	Job            string `json:"job"`
	Implementation string `json:"implementation,omitempty"`
	Version        int64  `json:"version"`
	// Document is the configuration as it stands in the registry: jobtype.DecodeConfig reads it.
	Document string `json:"document"`
	// Config is the same by ElasticJob's keys, with defaults, as a JSON object; empty if it cannot be read, and Error says why.
	Config json.RawMessage `json:"config,omitempty"`
	Error  string          `json:"error,omitempty"`
	Errors []Field         `json:"errors,omitempty"`
	// ETag is for Update, Patch and Remove.
	ETag string `json:"-"`
}

// Settings returns the configuration of the job.
func (j *Job) Settings(ctx context.Context) (s Settings, err error) {
	err = j.n.c.do(ctx, call{method: http.MethodGet, path: j.path("settings"), out: &s, etag: &s.ETag})
	return s, err
}

// Ticks returns the next ticks of the job, up to 1,000; why says why they cannot be told.
func (j *Job) Ticks(ctx context.Context, count int) (ticks []time.Time, why string, err error) {
	out, err := get[struct {
		Rows  []time.Time `json:"rows"`
		Error string      `json:"error,omitempty"`
	}](ctx, j.n.c, query().number("count", count).Values, j.path("ticks")...)
	return out.Rows, out.Error, err
}

// PlanQuery says what is to be compared with what is there.
type PlanQuery struct {
	Document string `json:"document"`
	Version  int64  `json:"version,omitempty"` // that the configuration has to have; 0 is any, or none
	Ticks    int    `json:"ticks,omitempty"`   // default 5
}

// Plan returns what a configuration would change. Nothing is changed.
func (j *Job) Plan(ctx context.Context, q PlanQuery) (plan ops.Plan, err error) {
	err = j.n.c.do(ctx, call{method: http.MethodPost, path: j.path("plan"), body: q, out: &plan, isSafe: true})
	return plan, err
}

// post sends a change of the job, with a body of B, or none.
func (j *Job) post(ctx context.Context, body, out any, path ...string) error {
	return j.send(ctx, call{method: http.MethodPost, body: body, out: out}, path...)
}

func (j *Job) send(ctx context.Context, a call, path ...string) error {
	a.path = append([]string{"jobs", j.name}, path...)
	return j.n.change(ctx, a)
}

// Configuration is a configuration in one of two forms.
type Configuration struct {
	// Document is YAML, or JSON, as job.Config.Encode writes it.
	Document string `json:"document,omitempty"`
	// Config is a JSON object by ElasticJob's keys.
	Config json.RawMessage `json:"config,omitempty"`
	// Implementation is what runs a new job; default its name.
	Implementation string `json:"implementation,omitempty"`
}

// SettingsChanged is what a change of settings has changed. Read the settings again for their ETag.
type SettingsChanged struct {
	Changed
	Created bool `json:"created,omitempty"`
}

// Create creates the job.
//
// Errors: ops.ErrJobExists; job.ErrInvalidConfig with Fields.
func (j *Job) Create(ctx context.Context, c Configuration) (SettingsChanged, error) {
	return j.put(ctx, c, "")
}

// Update replaces the configuration of the job, if it is that of an ETag, or Any.
//
// Errors: ErrChanged, which is ops.ErrConfigChanged, too; job.ErrInvalidConfig with Fields; job.ErrKindConflict.
func (j *Job) Update(ctx context.Context, c Configuration, etag string) (SettingsChanged, error) {
	if etag == "" {
		return SettingsChanged{}, errors.New("client: update: an ETag is needed, or Any")
	}
	return j.put(ctx, c, etag)
}

func (j *Job) put(ctx context.Context, c Configuration, etag string) (out SettingsChanged, err error) {
	err = j.send(ctx, call{method: http.MethodPut, header: precondition(etag), body: c, out: &out}, "settings")
	return out, err
}

// Patch changes some keys of the configuration, by a JSON merge patch for Settings.Config. Errors are those of Update.
func (j *Job) Patch(ctx context.Context, patch json.RawMessage, etag string) (out SettingsChanged, err error) {
	header := map[string]string{"If-Match": etag, "Content-Type": "application/merge-patch+json"}
	err = j.send(ctx, call{method: http.MethodPatch, header: header, body: patch, out: &out}, "settings")
	return out, err
}

// Implement gives the job another implementation. etag is that of its settings; empty is any.
func (j *Job) Implement(ctx context.Context, from, to, etag string) (out Changed, err error) {
	body := struct {
		From string `json:"from"`
		To   string `json:"to"`
	}{from, to}
	err = j.send(ctx, call{method: http.MethodPost, header: map[string]string{"If-Match": etag}, body: body, out: &out}, "implement")
	return out, err
}

// Remove removes the job, if its settings are those of an ETag, or Any.
//
// Errors: ErrChanged, which is ops.ErrConfigChanged, too.
func (j *Job) Remove(ctx context.Context, why, etag string) (out Changed, err error) {
	err = j.send(ctx, call{method: http.MethodDelete, header: map[string]string{"If-Match": etag}, query: query().text("why", why).Values, out: &out})
	return out, err
}

// Readmit lets programs set the job up again that was removed.
func (j *Job) Readmit(ctx context.Context) (out Changed, err error) {
	err = j.post(ctx, nil, &out, "readmit")
	return out, err
}

// Kill says which executions are to end; the zero value is for all that run.
type Kill struct {
	Items    []int     `json:"items,omitempty"`
	Tick     time.Time `json:"tick,omitzero"`
	Token    int64     `json:"token,omitempty"`
	Failover bool      `json:"failover,omitempty"` // run the items again elsewhere
}

// Killed is what was killed.
type Killed struct {
	Changed
	Killed []KilledRun `json:"killed"`
}

// KilledRun is an item to which a kill was sent.
type KilledRun struct {
	Item     int       `json:"item"`
	Tick     time.Time `json:"tick,omitzero"`
	Token    int64     `json:"token,omitempty"`
	Instance string    `json:"instance,omitempty"` // empty if it did not run
}

// Kill ends executions.
//
// Errors: ops.ErrNotRunning; ops.ErrJVM; ops.ErrOldMember.
func (j *Job) Kill(ctx context.Context, k Kill) (out Killed, err error) {
	err = j.post(ctx, k, &out, "kill")
	return out, err
}

// Pause says what becomes of ticks of a pause.
type Pause struct {
	Why        string `json:"why,omitempty"`
	MakeUp     bool   `json:"makeUp,omitempty"`     // run each item once when the pause ends, if ticks came meanwhile
	DisableJVM bool   `json:"disableJVM,omitempty"` // disable servers with JVM members, because they know no pause
}

// Paused is a pause, and what it does not reach.
type Paused struct {
	Changed
	Since    time.Time `json:"since"`
	JVM      []string  `json:"jvm,omitempty"`
	Old      []string  `json:"old,omitempty"`
	Disabled []string  `json:"disabled,omitempty"`
}

// Pause lets no further tick of the job begin.
//
// Errors: ops.ErrPaused, if it is paused already in another way.
func (j *Job) Pause(ctx context.Context, p Pause) (out Paused, err error) {
	err = j.post(ctx, p, &out, "pause")
	return out, err
}

// Resume ends a pause. Without one nothing changes.
func (j *Job) Resume(ctx context.Context) (out Changed, err error) {
	err = j.post(ctx, nil, &out, "resume")
	return out, err
}

// Reshard assigns the items as if nobody had had any.
func (j *Job) Reshard(ctx context.Context) (out Changed, err error) {
	err = j.post(ctx, nil, &out, "reshard")
	return out, err
}

// Shutdown says which instances are to leave the job: one of the first three is needed.
type Shutdown struct {
	Instances []string `json:"instances,omitempty"` // ids
	Servers   []string `json:"servers,omitempty"`   // addresses
	All       bool     `json:"all,omitempty"`
	Why       string   `json:"why,omitempty"`
}

// ShutDown are the instances that were told to leave.
type ShutDown struct {
	Changed
	Instances []string `json:"instances"`
}

// Shutdown has instances leave the job.
func (j *Job) Shutdown(ctx context.Context, s Shutdown) (out ShutDown, err error) {
	err = j.post(ctx, s, &out, "shutdown")
	return out, err
}

type items struct {
	Items []int `json:"items"`
}

// DisableItems keeps items from running: one or many.
func (j *Job) DisableItems(ctx context.Context, list ...int) (Changed, error) {
	return j.setItems(ctx, "disable", list)
}

// EnableItems ends DisableItems.
func (j *Job) EnableItems(ctx context.Context, list ...int) (Changed, error) {
	return j.setItems(ctx, "enable", list)
}

func (j *Job) setItems(ctx context.Context, verb string, list []int) (out Changed, err error) {
	if len(list) == 1 {
		err = j.post(ctx, nil, &out, "items", strconv.Itoa(list[0]), verb)
	} else {
		err = j.post(ctx, items{list}, &out, "items", verb)
	}
	return out, err
}

// Pin says to which instances an item belongs: one of the first three is needed.
type Pin struct {
	Instance string `json:"instance,omitempty"`
	Address  string `json:"address,omitempty"`
	Label    string `json:"label,omitempty"`
	Strict   bool   `json:"strict,omitempty"` // no owner while no such instance is there
}

// Pin gives an item to instances of one kind.
func (j *Job) Pin(ctx context.Context, item int, p Pin) (out Changed, err error) {
	err = j.send(ctx, call{method: http.MethodPut, body: p, out: &out}, "items", strconv.Itoa(item), "pin")
	return out, err
}

// Unpin ends a pin. Without one nothing changes.
func (j *Job) Unpin(ctx context.Context, item int) (out Changed, err error) {
	err = j.send(ctx, call{method: http.MethodDelete, out: &out}, "items", strconv.Itoa(item), "pin")
	return out, err
}

// servers are some servers of a job, or all.
type servers struct {
	Servers []string `json:"servers,omitempty"`
	All     bool     `json:"all,omitempty"`
	Ahead   bool     `json:"ahead,omitempty"`
}

// DisableServers keeps instances at some addresses from having items of the job; none means all servers that there are.
func (j *Job) DisableServers(ctx context.Context, addresses ...string) (Changed, error) {
	return j.setServers(ctx, "disable", servers{Servers: addresses, All: len(addresses) == 0})
}

// DisableServersAhead is DisableServers also for servers that are not there yet.
func (j *Job) DisableServersAhead(ctx context.Context, addresses ...string) (Changed, error) {
	return j.setServers(ctx, "disable", servers{Servers: addresses, Ahead: true})
}

// EnableServers ends DisableServers; none means all.
func (j *Job) EnableServers(ctx context.Context, addresses ...string) (Changed, error) {
	return j.setServers(ctx, "enable", servers{Servers: addresses, All: len(addresses) == 0})
}

// RemoveServers shuts the instances at some addresses down, and forgets these servers; none means all.
func (j *Job) RemoveServers(ctx context.Context, addresses ...string) (Changed, error) {
	return j.setServers(ctx, "remove", servers{Servers: addresses, All: len(addresses) == 0})
}

func (j *Job) setServers(ctx context.Context, verb string, s servers) (out Changed, err error) {
	err = j.post(ctx, s, &out, "servers", verb)
	return out, err
}

// ClearMisfires forgets ticks that were missed.
func (j *Job) ClearMisfires(ctx context.Context) (out Changed, err error) {
	err = j.post(ctx, nil, &out, "clear", "misfires")
	return out, err
}

// ClearFailovers does not run executions again that were cut short, of some items or of all. It returns the items.
func (j *Job) ClearFailovers(ctx context.Context, list ...int) ([]int, Changed, error) {
	var out struct {
		Changed
		items
	}
	body := struct {
		Items []int `json:"items,omitempty"`
	}{list}
	err := j.post(ctx, body, &out, "clear", "failovers")
	return out.Items, out.Changed, err
}

// ClearServers forgets servers without an instance, perhaps also disabled ones. It returns their addresses.
func (j *Job) ClearServers(ctx context.Context, disabled bool) ([]string, Changed, error) {
	var out struct {
		Changed
		Servers []string `json:"servers"`
	}
	body := struct {
		Disabled bool `json:"disabled,omitempty"`
	}{disabled}
	err := j.post(ctx, body, &out, "clear", "servers")
	return out.Servers, out.Changed, err
}

// ClearStale removes what dead JVM members leave for others to wait for. It returns the paths.
func (j *Job) ClearStale(ctx context.Context) ([]string, Changed, error) {
	var out struct {
		Changed
		Nodes []string `json:"nodes"`
	}
	err := j.post(ctx, nil, &out, "clear", "stale")
	return out.Nodes, out.Changed, err
}

// Trigger says what is to run now; the zero value is for all items.
type Trigger struct {
	Items     []int    `json:"items,omitempty"`
	Instances []string `json:"instances,omitempty"`
	Parameter string   `json:"parameter,omitempty"`
	// Key makes two calls one request: see job.TriggerRequest. Default: one for this call.
	Key string `json:"-"`
}

// Retry says which failures are to be tried again; the zero value is for the latest tick with failures.
type Retry struct {
	Tick      time.Time `json:"tick,omitzero"`
	Items     []int     `json:"items,omitempty"`
	Parameter string    `json:"parameter,omitempty"`
	Key       string    `json:"-"` // as that of Trigger
}

// Backfill says for which ticks items are to run.
type Backfill struct {
	From          time.Time `json:"from"`
	To            time.Time `json:"to"`
	Items         []int     `json:"items,omitempty"`
	Parameter     string    `json:"parameter,omitempty"`
	StopAtFailure bool      `json:"stopAtFailure,omitempty"`
	Key           string    `json:"-"` // as that of Trigger
}

// Requested is a request that the registry has.
type Requested struct {
	Changed
	ID        string      `json:"id"`
	Items     []int       `json:"items"`
	Ticks     []time.Time `json:"ticks,omitempty"`
	Instances []string    `json:"instances,omitempty"`
	JVM       []string    `json:"jvm,omitempty"`      // JVM members that are asked: each runs all of its items
	Beside    []int       `json:"beside,omitempty"`   // items that they run although they were not asked for
	WasThere  bool        `json:"wasThere,omitempty"` // made before, with the same key
}

// Trigger runs items now.
//
// Errors: job.ErrNoItem; job.ErrNoInstance; job.ErrQueueFull; job.ErrKeyUsed.
func (j *Job) Trigger(ctx context.Context, t Trigger) (Requested, error) {
	return j.ask(ctx, "trigger", t.Key, t)
}

// Retry runs items again that have failed.
//
// Errors: ops.ErrNothingFailed, and those of Trigger.
func (j *Job) Retry(ctx context.Context, r Retry) (Requested, error) {
	return j.ask(ctx, "retry", r.Key, r)
}

// Backfill runs items for ticks of the past.
//
// Errors: ops.ErrTicks, and those of Trigger.
func (j *Job) Backfill(ctx context.Context, b Backfill) (Requested, error) {
	return j.ask(ctx, "backfill", b.Key, b)
}

func (j *Job) ask(ctx context.Context, verb, key string, body any) (out Requested, err error) {
	if key == "" {
		key = newKey()
	}
	err = j.send(ctx, call{method: http.MethodPost, header: keyed(key), body: body, out: &out, isSafe: true}, verb)
	return out, err
}

// Request is a request, and what has become of it.
type Request struct {
	ops.RequestState
	Results []ItemResult `json:"results,omitempty"` // when all items are through
}

// ItemResult is what has become of an item of a request.
type ItemResult struct {
	Item    int       `json:"item"`
	Outcome string    `json:"outcome"` // OK, FAILED, SKIPPED, …
	Error   string    `json:"error,omitempty"`
	TaskID  string    `json:"taskId,omitempty"`
	Token   int64     `json:"token,omitempty"`
	Ended   time.Time `json:"ended,omitzero"`
	Runs    int       `json:"runs"`
	Failed  int       `json:"failed"`
}

// Request returns how far a request has come.
//
// Errors: job.ErrNoRequest.
func (j *Job) Request(ctx context.Context, id string) (Request, error) { return j.request(ctx, id, 0) }

// longPoll is how long the console is asked to wait, in seconds.
const longPoll = 20

// Await returns a request when all of its items are through, however long that takes.
//
// Errors: those of Request; the cause of ctx.
func (j *Job) Await(ctx context.Context, id string) (Request, error) {
	for {
		r, err := j.request(ctx, id, longPoll)
		if err != nil || len(r.Results) > 0 {
			return r, err
		}
		if ctx.Err() != nil {
			return r, fmt.Errorf("client: request %s: %w", id, context.Cause(ctx))
		}
	}
}

func (j *Job) request(ctx context.Context, id string, wait int) (Request, error) {
	return get[Request](ctx, j.n.c, query().number("wait", wait).Values, j.path("requests", id)...)
}

// Cancel ends a request. What runs for it goes on.
func (j *Job) Cancel(ctx context.Context, id string) (out Changed, err error) {
	err = j.post(ctx, nil, &out, "requests", id, "cancel")
	return out, err
}
