package legacy

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/ops"
)

// jobBrief is JobBriefInfo. 3.x writes null for what is missing, and 2.1.5 leaves it out.
type (
	jobBrief struct {
		JobName            string        `json:"jobName"`
		Status             ops.JobStatus `json:"status"`
		Description        *string       `json:"description"`
		Cron               *string       `json:"cron"`
		InstanceCount      int           `json:"instanceCount"`
		ShardingTotalCount int           `json:"shardingTotalCount"`
	}
	jobBriefOld struct {
		JobName            string        `json:"jobName"`
		Status             ops.JobStatus `json:"status"`
		Description        *string       `json:"description,omitempty"`
		Cron               *string       `json:"cron,omitempty"`
		InstanceCount      int           `json:"instanceCount"`
		ShardingTotalCount int           `json:"shardingTotalCount"`
	}
)

// as returns the rows of a list as a dialect writes them.
func as[Old, New any](d dialect, rows []New, old func(New) Old) any {
	if d != console {
		return append([]New{}, rows...) // [], not null
	}
	list := make([]Old, 0, len(rows))
	for _, row := range rows {
		list = append(list, old(row))
	}
	return list
}

func oldBrief(b jobBrief) jobBriefOld { return jobBriefOld(b) }

// jobs returns the jobs that the caller may see; none if no centre is activated.
func (a *api) jobs(r *http.Request) ([]ops.JobInfo, error) {
	if _, ok := a.center(access.From(r.Context())); !ok {
		return nil, nil
	}
	o, err := a.ops(r)
	if err != nil {
		return nil, err
	}
	list, err := o.Jobs(r.Context(), ops.JobsQuery{})
	if err != nil {
		return nil, err
	}
	var seen []ops.JobInfo
	for _, info := range list.Jobs {
		if maySee(r, info.Name) {
			seen = append(seen, info)
		}
	}
	return seen, nil
}

func (a *api) countJobs(r *http.Request, _ dialect) (any, error) {
	jobs, err := a.jobs(r)
	return bare{len(jobs)}, err
}

func (a *api) listJobs(r *http.Request, d dialect) (any, error) {
	jobs, err := a.jobs(r)
	if err != nil {
		return nil, err
	}
	rows := make([]jobBrief, 0, len(jobs))
	for _, info := range jobs {
		row := jobBrief{JobName: info.Name, Status: info.Status, Description: &info.Description, InstanceCount: info.Instances, ShardingTotalCount: info.ShardingTotalCount}
		if info.Instances == 0 {
			row.Status = ops.JobCrashed // ElasticJob has one status for all that have none
		}
		if info.Cron != "" {
			row.Cron = &info.Cron
		}
		rows = append(rows, row)
	}
	return as(d, rows, oldBrief), nil
}

// change does something to the job that a request is about.
func (a *api) change(r *http.Request, do func(*ops.Job) error) (any, error) {
	j, err := a.job(r)
	if err != nil {
		return nil, err
	}
	return done{}, do(j)
}

func (a *api) triggerJob(r *http.Request, _ dialect) (any, error) {
	return a.change(r, func(j *ops.Job) error {
		_, err := j.Trigger(r.Context(), jobtype.TriggerRequest{})
		return err
	})
}

func (a *api) disableJob(r *http.Request, _ dialect) (any, error) {
	return a.change(r, func(j *ops.Job) error { return j.DisableServers(r.Context()) })
}

func (a *api) enableJob(r *http.Request, _ dialect) (any, error) {
	return a.change(r, func(j *ops.Job) error { return j.EnableServers(r.Context()) })
}

func (a *api) shutdownJob(r *http.Request, _ dialect) (any, error) {
	return a.change(r, func(j *ops.Job) error {
		_, err := j.Shutdown(r.Context(), ops.ShutdownRequest{All: true})
		return err
	})
}

func (a *api) removeJob(r *http.Request, _ dialect) (any, error) {
	return a.change(r, func(j *ops.Job) error { return j.Remove(r.Context(), ops.RemoveRequest{}) })
}

// item is ShardingInfo.
type (
	item struct {
		Item       int            `json:"item"`
		ServerIP   *string        `json:"serverIp"`
		InstanceID *string        `json:"instanceId"`
		Status     ops.ItemStatus `json:"status"`
		Failover   bool           `json:"failover"`
	}
	itemOld struct {
		Item       int            `json:"item"`
		ServerIP   *string        `json:"serverIp,omitempty"`
		InstanceID *string        `json:"instanceId,omitempty"`
		Status     ops.ItemStatus `json:"status"`
		Failover   bool           `json:"failover"`
	}
)

// oldItem shortens the id: 2.1.5 shows the part behind the address, which is the process there.
func oldItem(i item) itemOld {
	old := itemOld(i)
	if i.InstanceID != nil {
		if _, process, found := strings.Cut(*i.InstanceID, "@-@"); found {
			old.InstanceID = &process
		}
	}
	return old
}

func (a *api) listItems(r *http.Request, d dialect) (any, error) {
	j, err := a.job(r)
	if err != nil {
		return nil, err
	}
	items, err := j.Items(r.Context())
	if err != nil {
		return nil, err
	}
	rows := make([]item, 0, len(items))
	for _, i := range items {
		row := item{Item: i.Item, Status: i.Status, Failover: i.Failover != ""}
		if i.Instance != "" {
			row.ServerIP, row.InstanceID = &i.Server, &i.Instance
		}
		rows = append(rows, row)
	}
	return as(d, rows, oldItem), nil
}

func (a *api) disableItem(r *http.Request, _ dialect) (any, error) {
	return a.changeItem(r, func(j *ops.Job, i int) error { return j.DisableItems(r.Context(), i) })
}

func (a *api) enableItem(r *http.Request, _ dialect) (any, error) {
	return a.changeItem(r, func(j *ops.Job, i int) error { return j.EnableItems(r.Context(), i) })
}

func (a *api) changeItem(r *http.Request, do func(*ops.Job, int) error) (any, error) {
	i, err := strconv.Atoi(r.PathValue("item"))
	if err != nil || i < 0 {
		return nil, fmt.Errorf("%w: item %s: the number of an item is allowed", errPath, brief.Quote(r.PathValue("item")))
	}
	return a.change(r, func(j *ops.Job) error { return do(j, i) })
}
