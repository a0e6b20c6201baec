package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// ItemStatus says in one word how an item is, as ElasticJob's console does.
type ItemStatus string

// The statuses of an item. The first that holds counts, in this order: DISABLED, RUNNING,
// SHARDING_FLAG, PENDING. (ElasticJob, ShardingStatisticsAPI)
const (
	// ItemDisabled: an operator has disabled it. It may run nevertheless.
	ItemDisabled ItemStatus = "DISABLED"
	// ItemRunning: it runs.
	ItemRunning ItemStatus = "RUNNING"
	// ItemShardingFlag: it has no owner, or one that is not there.
	ItemShardingFlag ItemStatus = "SHARDING_FLAG"
	// ItemPending: it waits for its next tick.
	ItemPending ItemStatus = "PENDING"
)

// ItemInfo is what the tree says of an item.
type ItemInfo struct {
	Item      int        `json:"item"`
	Parameter string     `json:"parameter,omitempty"` // that of Config.ShardingItemParameters
	Status    ItemStatus `json:"status"`
	// Instance is the id of its owner, there or not, and Server the address of the owner's host.
	Instance string `json:"instance,omitempty"`
	Server   string `json:"server,omitempty"`
	// LastTick is the last tick that counts as begun: one that nobody may run any more is among them, and so is the time when
	// the first Go instance joined JVM members. Last tells what has run.
	LastTick time.Time `json:"lastTick,omitzero"`
	// Run is what runs now; nil if nothing does.
	Run *RunInfo `json:"run,omitempty"`
	// Last is how its last execution has ended; nil if the tree does not tell.
	Last *LastRun `json:"last,omitempty"`
	// Failover is the id of the instance that has taken it over. Waits is whether it waits to be run
	// again after it was cut short, and Misfire whether a tick came while it ran.
	Failover string `json:"failover,omitempty"`
	Waits    bool   `json:"waits,omitempty"`
	Misfire  bool   `json:"misfire,omitempty"`
	// Disabled is whether an operator has disabled it, and Killed whether its run is to end.
	Disabled bool `json:"disabled,omitempty"`
	Killed   bool `json:"killed,omitempty"`
	// Pin says where it belongs; nil if it is not pinned.
	Pin *PinInfo `json:"pin,omitempty"`
	// Requests are the ids of those that it is not through with, in the order of its turns.
	Requests []string `json:"requests,omitempty"`
	// Error says what of it cannot be read.
	Error string `json:"error,omitempty"`
}

// RunInfo is an execution that has begun and has not ended.
type RunInfo struct {
	Instance string `json:"instance"` // the id of who runs it; empty if it does not say
	// Tick is what it runs for; for a trigger, when it was claimed. A JVM member does not tell.
	Tick time.Time `json:"tick,omitzero"`
	// Begun is when its handler was called, by the clock of the instance. The tree does not tell:
	// only operations with a history do (WithHistory), and no watch. What runs by its schedule, and
	// makes nothing up, has begun within the misfire tolerance after Tick.
	Begun time.Time `json:"begun,omitzero"`
	// Token is its fencing token, for KillRequest, and TaskID its name.
	Token  int64  `json:"token,omitempty"`
	TaskID string `json:"taskId,omitempty"`
	// Request is the id of the request for which it runs.
	Request string `json:"request,omitempty"`
	// Lost is whether its instance is gone: it is about to be recovered.
	Lost bool `json:"lost,omitempty"`
}

// PinInfo says where an item belongs: see PinRequest.
type PinInfo struct {
	Instance string `json:"instance,omitempty"`
	Address  string `json:"address,omitempty"`
	Label    string `json:"label,omitempty"`
	Strict   bool   `json:"strict,omitempty"`
	By       string `json:"by,omitempty"`
	// Holds is whether there is an instance to which it belongs.
	Holds bool `json:"holds"`
	// Error says why it cannot be read. Then it pins nothing.
	Error string `json:"error,omitempty"`
}

// Items lists the items of the job: those that are there, and those that the job is to have. Of a
// broadcast job only those are listed that are there.
//
// Errors: ErrNoJob; those of a read.
func (j *Job) Items(ctx context.Context) ([]ItemInfo, error) {
	s, err := j.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("job %s: items: %w", brief.Text(string(j.name)), err)
	}
	c, _ := jobtype.DecodeConfig(s.Config.Value) // what can be read of it is enough
	items := itemsOf(j.name, s, c)
	_ = j.addBegun(ctx, items) // items are shown without that, too; Describe says why
	return items, nil
}

func itemsOf(name jobtree.Job, s *jobtree.State, c jobtype.Config) []ItemInfo {
	total := max(c.ShardingTotalCount, 0)
	if c.Broadcast || total > jobtree.MaxItems { // no process takes a configuration with more
		total = 0
	}
	parameters, _ := jobtype.ParseItemParameters(c.ShardingItemParameters) // the configuration's error says it
	waits := map[int]bool{}
	for _, f := range s.FailoverItems {
		waits[f.Item] = true
	}
	turns := map[int][]*jobtree.Request{}
	for _, r := range s.Requests {
		for _, i := range r.Items {
			if !r.IsThrough(i) {
				turns[i] = append(turns[i], r)
			}
		}
	}
	var list []ItemInfo
	for i := range max(total, len(s.Items)) {
		item := s.Item(i)
		if !item.Exists && i >= total {
			continue
		}
		info := itemOf(name, s, i)
		info.Parameter, info.Waits = brief.Cut(parameters[i], maxLong), waits[i]
		for _, r := range turns[i] {
			info.Requests = append(info.Requests, r.ID)
			if p := r.Progress(i); info.Run != nil && p != nil && p.Runner == info.Run.Instance {
				info.Run.Request = r.ID
			}
		}
		list = append(list, info)
	}
	return list
}

func itemOf(name jobtree.Job, s *jobtree.State, i int) ItemInfo {
	item := s.Item(i)
	info := ItemInfo{
		Item: i, Status: itemStatus(s, &item), Instance: brief.Cut(ownerOf(&item), 2*maxWord), Misfire: item.Misfire, Disabled: item.Disabled, Pin: pinOf(s, i),
	}
	if in, isThere := s.Instances[info.Instance]; isThere {
		info.Server = in.IP
	} else {
		info.Server = jobtree.InstanceIP(info.Instance)
	}
	if item.Failover != nil {
		info.Failover = brief.Cut(item.Failover.ID, 2*maxWord)
	} else if item.Failovering != nil {
		info.Failover = brief.Cut(item.Failovering.ID, 2*maxWord)
	}
	if item.Running != nil {
		info.Run = runOf(name, s, i, &item)
		info.Killed = s.Kills[i].Kills(info.Run.Token)
	}
	var unread []string
	if f := item.Fired; f != nil {
		if info.LastTick = f.Tick; f.Err != nil {
			unread = append(unread, brief.Error(f.Err).Error())
		}
	}
	if item.Completed != nil {
		last, err := lastOf(i, item.Completed)
		if err != nil {
			unread = append(unread, brief.Error(err).Error())
		} else {
			info.Last = &last
		}
	}
	info.Error = strings.Join(unread, "; ")
	return info
}

// itemStatus is the status of an item, whatever nodes are missing.
func itemStatus(s *jobtree.State, item *jobtree.Item) ItemStatus {
	_, isThere := s.Instances[ownerOf(item)]
	switch {
	case item.Disabled:
		return ItemDisabled
	case item.Running != nil:
		return ItemRunning
	case !isThere:
		return ItemShardingFlag
	}
	return ItemPending
}

func runOf(name jobtree.Job, s *jobtree.State, i int, item *jobtree.Item) *RunInfo {
	r := &RunInfo{Instance: brief.Cut(item.Running.ID, 2*maxWord)}
	in, isThere := s.Instances[r.Instance]
	session := s.Sessions[r.Instance]
	r.Lost = r.Instance != "" && !isThere && session == nil
	isJVM := isThere && in.Owner != 0 && session == nil
	if f := item.Fired; f != nil && f.Err == nil && !isJVM { // else it is of an earlier run
		r.Tick, r.Token = f.Run, f.Modified
		r.TaskID = jobtree.TaskID(name, i, item.Running.ID, r.Token, r.Tick)
	}
	return r
}

func lastOf(i int, c *jobtree.Completion) (LastRun, error) {
	d, err := c.Document()
	return LastRun{
		Item: i, Tick: d.Tick, Begun: d.Begun, Ended: d.Ended, Outcome: string(d.Outcome), TaskID: d.TaskID, Original: d.Original,
		Source: d.Source, Request: d.Request, Token: d.Token, Error: d.Error,
	}, err
}

func pinOf(s *jobtree.State, i int) *PinInfo {
	pin := s.Pins[i]
	if pin == nil {
		return nil
	}
	if pin.Err != nil {
		return &PinInfo{Error: brief.Error(pin.Err).Error()}
	}
	info := &PinInfo{Instance: brief.Cut(pin.Instance, maxWord), Address: brief.Cut(pin.Address, maxWord), Label: brief.Cut(pin.Label, maxWord), Strict: pin.Strict, By: brief.Cut(pin.By, maxWord)}
	for _, in := range s.Instances {
		info.Holds = info.Holds || pin.Matches(in)
	}
	return info
}

// items counts the items of a job, and shows what has ended last.
func (i *JobInfo) items(s *jobtree.State) {
	last := -1
	for n := range s.Items {
		item := &s.Items[n]
		i.Running += count(item.Running != nil)
		i.Disabled += count(item.Disabled)
		if item.Completed == nil {
			continue
		}
		i.Failing += count(isFailure(item.Completed.Outcome()))
		if last < 0 || item.Completed.Modified > s.Items[last].Completed.Modified {
			last = n
		}
	}
	if last >= 0 {
		i.Last, _ = lastOf(last, s.Items[last].Completed) // the item shows what cannot be read
	}
	i.Waiting = len(s.FailoverItems)
}

// isFailure reports whether an outcome is no success. What an operator has ended, or nobody had to
// run, is no failure.
func isFailure(o jobtree.Outcome) bool {
	return slices.Contains([]jobtree.Outcome{jobtree.OutcomeFailed, jobtree.OutcomePanic, jobtree.OutcomeTimeout, jobtree.OutcomeCut}, o)
}
