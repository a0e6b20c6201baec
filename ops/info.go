package ops

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// JobStatus says in one word how a job is. ElasticJob's console says CRASHED also for STOPPED and NEVER_STARTED.
type JobStatus string

// The statuses of a job. The first that holds counts, in this order: CRASHED, STOPPED, NEVER_STARTED, DISABLED,
// SHARDING_FLAG, OK. (ElasticJob, JobStatisticsAPI)
const (
	// JobOK: none of the others.
	JobOK JobStatus = "OK"
	// JobCrashed: no instance is there, and one has ended in the middle of an execution that has a record.
	JobCrashed JobStatus = "CRASHED"
	// JobStopped: no instance is there any more. The tree does not tell one that has left from one that has died while
	// it ran nothing, or without Failover, when no record outlives it.
	JobStopped JobStatus = "STOPPED"
	// JobNeverStarted: no instance is there, and nothing shows that there ever was one.
	JobNeverStarted JobStatus = "NEVER_STARTED"
	// JobDisabled: all servers are disabled, or none is there.
	JobDisabled JobStatus = "DISABLED"
	// JobShardingFlag: items are to be assigned. The owner of one is not there, or no item has any.
	JobShardingFlag JobStatus = "SHARDING_FLAG"
)

// JobInfo is what a list of jobs shows of one. Two of them may be compared with ==. Texts are cut after some hundred bytes.
type JobInfo struct {
	Name string `json:"name"`
	// JVMOnly is whether only JVM members can have the job: ElasticJob takes names that no Go job can have.
	JVMOnly     bool   `json:"jvmOnly,omitempty"`
	Description string `json:"description,omitempty"`
	// Implementation is what runs the job: see CreateRequest.
	Implementation string `json:"implementation,omitempty"`
	// Cron is the first expression, and MoreCrons is how many there are beside it. It is empty for a one-off job.
	Cron      string `json:"cron,omitempty"`
	MoreCrons int    `json:"moreCrons,omitempty"`
	TimeZone  string `json:"timeZone,omitempty"`
	Calendars int    `json:"calendars,omitempty"` // how many there are whose days it leaves out
	Label     string `json:"label,omitempty"`
	Broadcast bool   `json:"broadcast,omitempty"`
	// ShardingTotalCount is how many items the job is to have.
	ShardingTotalCount int `json:"shardingTotalCount"`
	// Version is that of the configuration, for UpdateRequest.
	Version int64 `json:"version"`
	// ConfigError says why the configuration cannot be read. Then the fields above have what could be.
	ConfigError string `json:"configError,omitempty"`

	Status JobStatus `json:"status"`
	// Healthy is whether the status is OK, and the job is not paused, expired, faulty, failing or late.
	Healthy bool `json:"healthy,omitempty"`
	// Instances are those that are there, JVM how many of them are JVM members, and Leaving those
	// that only finish what they run. Leader is the id of the one that leads.
	Instances int    `json:"instances"`
	JVM       int    `json:"jvm,omitempty"`
	Leaving   int    `json:"leaving,omitempty"`
	Leader    string `json:"leader,omitempty"`
	// Servers are all that are known, and DisabledServers those of them that an operator has disabled.
	Servers         int `json:"servers"`
	DisabledServers int `json:"disabledServers,omitempty"`
	// Running are the items that run, Failing those whose last execution was no success, Waiting
	// those that wait to be run again after they were cut short, and Disabled those that an operator
	// has disabled.
	Running  int `json:"running"`
	Failing  int `json:"failing,omitempty"`
	Waiting  int `json:"waiting,omitempty"`
	Disabled int `json:"disabledItems,omitempty"`
	// Requests are those with items that are not through, and Pins the items that are pinned.
	Requests int `json:"requests,omitempty"`
	Pins     int `json:"pins,omitempty"`
	// Faults is how many faults the instances show, and Fault what the oldest of them is.
	Faults int    `json:"faults,omitempty"`
	Fault  string `json:"fault,omitempty"`

	// Paused says since when no tick begins; zero if the job is not paused.
	Paused PauseInfo `json:"paused,omitzero"`
	// Last is the execution of the job that has ended last; zero if the tree has none.
	Last LastRun `json:"last,omitzero"`
	// Late is whether that has begun later than LateAfter and the jitter after its tick.
	BegunLate bool `json:"begunLate,omitempty"`
	// Next is the next tick; zero if the job is a one-off job, is paused, or has none, which is
	// Expired if its configuration gives it an end. NextError says why it cannot be told.
	Next      time.Time `json:"next,omitzero"`
	NextError string    `json:"nextError,omitempty"`
	Expired   bool      `json:"expired,omitempty"`
}

// PauseInfo says that a job is paused: see [Job.Pause].
type PauseInfo struct {
	Since  time.Time `json:"since"`
	By     string    `json:"by,omitempty"`
	Why    string    `json:"why,omitempty"`
	MakeUp bool      `json:"makeUp,omitempty"`
}

// LastRun is how an execution of an item has ended. JVM members do not tell that.
type LastRun struct {
	Item int `json:"item"`
	// Tick is what it was for. Begun is when its handler was called, which members of earlier versions
	// do not tell, and Ended when it has ended, both by the clock of the instance.
	Tick  time.Time `json:"tick,omitzero"`
	Begun time.Time `json:"begun,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
	// Outcome is OK, FAILED, PANIC, TIMEOUT, CUT or KILLED, or a word of a later version.
	Outcome string `json:"outcome"`
	// TaskID names the execution in the history and the logs, and Original the one that it repeats.
	TaskID   string `json:"taskId,omitempty"`
	Original string `json:"original,omitempty"`
	// Source says why it ran, and Request for which request.
	Source  string `json:"source,omitempty"`
	Request string `json:"request,omitempty"`
	// Token is its fencing token.
	Token int64 `json:"token,omitempty"`
	// Error is the beginning of the error.
	Error string `json:"error,omitempty"`
}

// JobsQuery says which jobs are wanted. The zero value wants all.
type JobsQuery struct {
	// Search is a part of the name, the description or the implementation, in upper or lower case.
	Search string
	// Server is the address of a server that the job has to have.
	Server string
	// Label and Implementation are those of the job, as a whole.
	Label, Implementation string
	// Statuses are those of which the job has to have one; none means any.
	Statuses []JobStatus
	// Paused, Faulty and Failing want only jobs that are paused, have faults, or have items whose last
	// execution was no success. A configuration that cannot be read is a fault here.
	Paused, Faulty, Failing bool
	// Sort is the order of the list.
	Sort JobSort
	// After is the end of the page before: its JobList.Next, with the same Sort. By name it is the name after which the
	// list begins. Limit is how many jobs it has at most; 0 is all.
	After string
	Limit int
}

// JobList is what [Ops.Jobs] returns.
type JobList struct {
	Jobs []JobInfo `json:"jobs"` // in the order of JobsQuery.Sort
	// Next is JobsQuery.After for the jobs that follow; empty if none do.
	Next string `json:"next,omitempty"`
	// Totals are those of all jobs that are wanted, on whichever page.
	Totals Totals `json:"totals"`
}

// Totals count jobs, and what they have.
type Totals struct {
	Jobs         int `json:"jobs"`
	OK           int `json:"ok"` // those that are healthy
	Crashed      int `json:"crashed"`
	Stopped      int `json:"stopped"`
	NeverStarted int `json:"neverStarted"`
	Disabled     int `json:"disabled"`
	ShardingFlag int `json:"shardingFlag"`
	Paused       int `json:"paused"`
	Faulty       int `json:"faulty"`
	Failing      int `json:"failing"`
	BegunLate    int `json:"begunLate"`
	Instances    int `json:"instances"`
	Items        int `json:"items"` // those that the jobs are to have
	Running      int `json:"running"`
}

func (t *Totals) add(i *JobInfo) {
	t.Jobs++
	t.OK += count(i.Healthy)
	t.Crashed += count(i.Status == JobCrashed)
	t.Stopped += count(i.Status == JobStopped)
	t.NeverStarted += count(i.Status == JobNeverStarted)
	t.Disabled += count(i.Status == JobDisabled)
	t.ShardingFlag += count(i.Status == JobShardingFlag)
	t.Paused += count(i.isPaused())
	t.Faulty += count(i.isFaulty())
	t.Failing += count(i.Failing > 0)
	t.BegunLate += count(i.BegunLate)
	t.Instances += i.Instances
	t.Items += i.ShardingTotalCount
	t.Running += i.Running
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (i *JobInfo) isPaused() bool { return !i.Paused.Since.IsZero() }
func (i *JobInfo) isFaulty() bool { return i.Faults > 0 || i.ConfigError != "" || i.NextError != "" }
func (i *JobInfo) isHealthy() bool {
	return i.Status == JobOK && i.Failing == 0 && !i.BegunLate && !i.Expired && !i.isPaused() && !i.isFaulty()
}

// LateAfter is how long after its tick an execution may begin without being late.
const LateAfter = time.Minute

// Lateness returns how long after its tick, or notBefore, an execution for the schedule has begun; zero of others, or if unknown.
func Lateness(source string, tick, begun, notBefore time.Time) time.Duration {
	if begun.IsZero() || source != jobtype.SourceNormal.String() && source != jobtype.SourceMisfire.String() {
		return 0
	}
	if tick.Before(notBefore) {
		tick = notBefore
	}
	return begun.Sub(tick)
}

// wants reports whether a query is for a job, but for its servers.
func (q *JobsQuery) wants(i *JobInfo) bool {
	return (q.Label == "" || i.Label == q.Label) && (q.Implementation == "" || i.Implementation == q.Implementation) &&
		(len(q.Statuses) == 0 || slices.Contains(q.Statuses, i.Status)) &&
		(!q.Paused || i.isPaused()) && (!q.Faulty || i.isFaulty()) && (!q.Failing || i.Failing > 0) &&
		(q.Search == "" || contains(i.Name, q.Search) || contains(i.Description, q.Search) || contains(i.Implementation, q.Search))
}

// contains is strings.Contains without regard to upper and lower case.
func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// Jobs lists the jobs of the namespace. It reads all of it, one job after the other: on etcd as it is at one moment. A
// child of the namespace without a configuration is no job. A job whose name no Go job can have is JVMOnly. A
// configuration that cannot be read, and any node that is missing, hides nothing.
//
// Errors: those of a read; one for a query with a negative limit, or with another order.
func (o *Ops) Jobs(ctx context.Context, q JobsQuery) (*JobList, error) {
	list, err := o.jobs(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return list, nil
}

func (o *Ops) jobs(ctx context.Context, q JobsQuery) (*JobList, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	l := &JobList{}
	describe := o.newInformant(ctx)
	var behind []placed
	var mu sync.Mutex // guards l and behind
	err := inParallel(o.trees(ctx), func(found tree) {
		info := describe.job(found.name, found.State)
		if q.Server != "" && found.Servers[q.Server] == nil {
			return
		}
		if !q.wants(&info) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		l.Totals.add(&info)
		if place := q.Sort.place(&info); place > q.After {
			behind = append(behind, placed{place, &info})
		}
	})
	if err != nil {
		return nil, err
	}
	q.turn(l, behind)
	return l, nil
}

// List returns what [Ops.Jobs] does, of jobs that are known already, in any order: those of a watch, say. It keeps the
// pointers until it returns. Server is ignored: a JobInfo does not tell its servers.
//
// Errors: one for a query with a negative limit, or with another order.
func (q JobsQuery) List(jobs iter.Seq[*JobInfo]) (*JobList, error) {
	if err := q.check(); err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	l := &JobList{}
	var behind []placed
	for info := range jobs {
		if !q.wants(info) {
			continue
		}
		l.Totals.add(info)
		if place := q.Sort.place(info); place > q.After {
			behind = append(behind, placed{place, info})
		}
	}
	q.turn(l, behind)
	return l, nil
}

func (q *JobsQuery) check() error {
	if q.Limit < 0 {
		return fmt.Errorf("limit %d: 0 and more are allowed", q.Limit)
	}
	return q.Sort.check()
}

// Info returns what a list of jobs shows of this one.
//
// Errors: ErrNoJob; those of a read.
func (j *Job) Info(ctx context.Context) (JobInfo, error) {
	s, err := j.read(ctx)
	if err != nil {
		return JobInfo{}, fmt.Errorf("job %s: info: %w", brief.Text(string(j.name)), err)
	}
	return j.ops.newInformant(ctx).job(j.name, s), nil
}

// jobStatus is the status of a job, whatever nodes are missing.
func jobStatus(s *jobtree.State) JobStatus {
	disabled := 0
	for _, server := range s.Servers {
		disabled += count(!server.Enabled)
	}
	isCut := func(i jobtree.Item) bool { return i.Running != nil && s.Sessions[i.Running.ID] == nil }
	switch {
	case len(s.Instances) == 0 && slices.ContainsFunc(s.Items, isCut):
		return JobCrashed
	case s.IsDisabled && disabled == len(s.Servers):
		return JobDisabled
	case len(s.Instances)+len(s.Servers)+len(s.Items)+len(s.Sessions) == 0:
		return JobNeverStarted
	case len(s.Instances) == 0:
		return JobStopped
	case disabled == len(s.Servers):
		return JobDisabled
	}
	isDealt := false
	for i := range s.Items {
		owner := ownerOf(&s.Items[i])
		if owner == "" {
			continue
		}
		isDealt = true
		if _, isThere := s.Instances[owner]; !isThere {
			return JobShardingFlag
		}
	}
	if !isDealt {
		return JobShardingFlag
	}
	return JobOK
}

// ownerOf is the id of the instance that has an item; empty if none has.
func ownerOf(item *jobtree.Item) string {
	if item.Owner == nil {
		return ""
	}
	return strings.TrimSpace(item.Owner.ID)
}

// Bounds of texts from the tree, in bytes.
const (
	maxWord = 255      // names, labels, descriptions
	maxLong = 4 << 10  // expressions, parameters
	maxRead = 16 << 10 // a document of faults; package job writes 4 KiB at most
)

// configInfo writes what the configuration says.
func (i *JobInfo) configInfo(c jobtype.Config, unread error) {
	i.Description, i.Cron, i.MoreCrons, i.TimeZone = brief.Cut(c.Description, maxWord), brief.Cut(c.Cron, maxLong), len(c.MoreCrons), brief.Cut(c.TimeZone, maxWord)
	i.Calendars, i.Label, i.Broadcast, i.ShardingTotalCount = len(c.Calendars), brief.Cut(c.Label, maxWord), c.Broadcast, c.ShardingTotalCount
	if unread != nil {
		i.ConfigError = brief.Error(unread).Error()
	}
}
