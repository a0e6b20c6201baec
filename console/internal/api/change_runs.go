package api

import (
	"context"
	"errors"
	"time"

	"github.com/elasticjob-go/elasticjob/console/internal/route"
	"github.com/elasticjob-go/elasticjob/ops"
)

// KillBody says which executions are to end. What it leaves out does not matter.
type KillBody struct {
	Items    []int     `json:"items,omitempty" maxItems:"100000" nullable:"false" doc:"Items whose executions end. Default: all."`
	Tick     time.Time `json:"tick,omitzero" doc:"Scheduled time of the executions. Items that have not begun it do not begin it any more."`
	Token    int64     `json:"token,omitempty" minimum:"0" doc:"Fencing token of the executions."`
	Failover bool      `json:"failover,omitempty" doc:"Have the items run again for the same tick, by whoever takes them over."`
}

// Killed is the answer to a kill.
type Killed struct {
	Changed
	Killed []KilledRun `json:"killed" nullable:"false" doc:"Items to which a kill was sent."`
}

// KilledRun is an item to which a kill was sent.
type KilledRun struct {
	Item     int       `json:"item" doc:"Number of the item."`
	Tick     time.Time `json:"tick,omitzero" doc:"Tick for which it runs, or would have run."`
	Token    int64     `json:"token,omitempty" doc:"Fencing token of the execution."`
	Instance string    `json:"instance,omitempty" doc:"Who runs it. Empty if it waited to be taken over, or had not begun."`
}

// PauseBody says what becomes of ticks of a pause.
type PauseBody struct {
	Why        string `json:"why,omitempty" maxLength:"255" doc:"Why, for people."`
	MakeUp     bool   `json:"makeUp,omitempty" doc:"Run each item once when the pause ends, if ticks came meanwhile. Default: they are skipped."`
	DisableJVM bool   `json:"disableJVM,omitempty" doc:"Disable servers with JVM members until the pause ends, because they know no pause."`
}

// ResumeBody says what becomes of the ticks of a pause that ends.
type ResumeBody struct {
	MakeUp *bool `json:"makeUp,omitempty" doc:"Whether each item runs once for those that it has missed. Default: as the pause says."`
}

// Paused is the answer to a pause: also what it does not reach.
type Paused struct {
	Changed
	Since    time.Time `json:"since" doc:"Since when the job is paused."`
	JVM      []string  `json:"jvm,omitempty" nullable:"false" doc:"JVM members that go on running ticks."`
	Old      []string  `json:"old,omitempty" nullable:"false" doc:"Go members that are too old to know a pause, and go on."`
	Disabled []string  `json:"disabled,omitempty" nullable:"false" doc:"Servers that were disabled."`
}

// ShutdownBody says which instances are to leave a job.
type ShutdownBody struct {
	Instances []string `json:"instances,omitempty" maxItems:"10000" nullable:"false" doc:"Ids."`
	Servers   []string `json:"servers,omitempty" maxItems:"10000" nullable:"false" doc:"Addresses, whose instances leave."`
	All       bool     `json:"all,omitempty" doc:"All instances of the job."`
	Why       string   `json:"why,omitempty" maxLength:"255" doc:"Why, for people."`
}

// ShutDown is the answer to a shut-down.
type ShutDown struct {
	Changed
	Instances []string `json:"instances" nullable:"false" doc:"Ids of the instances that were told to leave."`
}

func (a *API) addRuns() {
	steer(a, operator(route.Job), "kill-executions", "/kill", "End executions",
		"The answer comes when the registry has the kills, not when handlers have returned.", kill)
	steer(a, operator(route.Job), "pause-job", "/pause", "Let no further tick begin",
		"Executions that run go on; triggers run as always. If the job is paused already in the same way, nothing changes; in another way: 409, paused.", pause)
	steer(a, operator(route.Job), "resume-job", "/resume", "End a pause", "Without a pause nothing changes.",
		func(ctx context.Context, j *ops.Job, b *ResumeBody, _ *Changed) error {
			return unless(j.Resume(ctx, ops.ResumeRequest{MakeUp: b.MakeUp}), ops.ErrNotPaused)
		})
	steer(a, operator(route.Job), "reshard-items", "/reshard", "Assign the items as if nobody had had any", "",
		func(ctx context.Context, j *ops.Job, _ *Nothing, _ *Changed) error { return j.Reshard(ctx) })
	steer(a, operator(route.Job), "shut-down-instances", "/shutdown", "Have instances leave a job",
		"Each of them ends what it runs first. One of instances, servers and all is needed. They come back when their processes are started again.", shutDown)
}

// unless returns an error, but not one that says that all is as it should be.
func unless(err, fine error) error {
	if errors.Is(err, fine) {
		return nil
	}
	return err
}

func kill(ctx context.Context, j *ops.Job, b *KillBody, out *Killed) error {
	killed, err := j.Kill(ctx, ops.KillRequest{Items: b.Items, Tick: b.Tick, Token: b.Token, Failover: b.Failover})
	out.Killed = []KilledRun{}
	for _, k := range killed {
		out.Killed = append(out.Killed, KilledRun(k))
	}
	return err
}

func pause(ctx context.Context, j *ops.Job, b *PauseBody, out *Paused) error {
	p, err := j.Pause(ctx, ops.PauseRequest{Why: b.Why, MakeUp: b.MakeUp, DisableJVM: b.DisableJVM})
	if errors.Is(err, ops.ErrPaused) && !b.DisableJVM {
		info, infoErr := j.Info(ctx)
		if infoErr != nil {
			return infoErr
		}
		if !info.Paused.Since.IsZero() && info.Paused.MakeUp == b.MakeUp {
			p.Since, err = info.Paused.Since, nil
		}
	}
	out.Since, out.JVM, out.Old, out.Disabled = p.Since.UTC(), p.JVM, p.Old, p.Disabled
	return err
}

func shutDown(ctx context.Context, j *ops.Job, b *ShutdownBody, out *ShutDown) error {
	ids, err := j.Shutdown(ctx, ops.ShutdownRequest{Instances: b.Instances, Servers: b.Servers, All: b.All, Why: b.Why})
	out.Instances = notNil(ids)
	return err
}
