package ops

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// JobDetail is all that the tree tells of a job, as it was at one moment (on ZooKeeper within a moment).
type JobDetail struct {
	Info JobInfo `json:"info"`
	// Config is what the configuration says, with its defaults, and Document how it stands there.
	Config   jobtype.Config `json:"-"`
	Document string         `json:"document"`

	Items     []ItemInfo     `json:"items"`
	Instances []InstanceInfo `json:"instances"`
	Servers   []JobServer    `json:"servers"`
	// Faults are those of all instances, the oldest first.
	Faults   []FaultInfo    `json:"faults,omitempty"`
	Requests []RequestState `json:"requests,omitempty"`
	// Ticks are the next ones, also during a pause: five, or fewer if no more come.
	Ticks []time.Time `json:"ticks,omitempty"`
	// Since is since when the schedule is in force; zero if the leader has not recorded that.
	Since time.Time `json:"since,omitzero"`
	// Asked is whether the leader is asked to reshard, and Dealing whether a JVM leader does.
	Asked   bool `json:"asked,omitempty"`
	Dealing bool `json:"dealing,omitempty"`
	// Triggers are the ids of instances that are asked to run in ElasticJob's way, ascending.
	Triggers []string `json:"triggers,omitempty"`
	// Debris are paths of nodes that external writers have left in the way of ours: the first 100.
	Debris []string `json:"debris,omitempty"`
	// HistoryError says why the history does not tell when what runs was begun.
	HistoryError string `json:"historyError,omitempty"`
	// Doubt says, in a watch, why this may be incomplete or old. DoubtSince is since when it may be old;
	// zero if it is only incomplete.
	Doubt      string    `json:"doubt,omitempty"`
	DoubtSince time.Time `json:"doubtSince,omitzero"`
}

// nextTicks is how many ticks a detail has.
const nextTicks = 5

// Describe reads all of the job.
//
// Errors: ErrNoJob; those of a read.
func (j *Job) Describe(ctx context.Context) (*JobDetail, error) {
	s, err := j.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("job %s: describe: %w", brief.Text(string(j.name)), err)
	}
	d := j.ops.newInformant(ctx).detail(j.name, s)
	if err := j.addBegun(ctx, d.Items); err != nil {
		d.HistoryError = err.Error()
	}
	return d, nil
}

func (f *informant) detail(name jobtree.Job, s *jobtree.State) *JobDetail {
	c, unread := jobtype.DecodeConfig(s.Config.Value)
	d := &JobDetail{
		Info: f.job(name, s), Config: c, Document: string(s.Config.Value), Items: itemsOf(name, s, c), Instances: instancesOf(name, s), Servers: serversOf(name, s),
		Faults: allFaults(s), Requests: requestsOf(s), Asked: s.Necessary && !s.IsHolding, Dealing: s.Processing,
	}
	if unread == nil {
		d.Ticks = f.ticksAfter(c, s.Schedule)
	}
	if s.Schedule != nil {
		d.Since = s.Schedule.Since
	}
	for _, id := range slices.Sorted(maps.Keys(s.Triggers)) {
		d.Triggers = append(d.Triggers, brief.Cut(id, 2*maxWord))
	}
	for _, n := range s.Debris {
		d.Debris = append(d.Debris, brief.Cut(n.Path, maxLong))
	}
	return d
}

// ticksAfter returns the next ticks of a job; none if they cannot be told, which JobInfo says.
func (f *informant) ticksAfter(c jobtype.Config, recorded *jobtree.Schedule) (list []time.Time) {
	ticks, err := ticksOf(c, recorded, f.calendar)
	if err != nil || ticks == nil {
		return nil
	}
	for at := ticks.Next(f.now); !at.IsZero() && len(list) < nextTicks; at = ticks.Next(at) {
		list = append(list, at.UTC())
	}
	return list
}
