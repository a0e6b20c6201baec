//go:build unix

package demo

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

// batchSize is how many events are written at a time, so that workers come in between.
const batchSize = 400

// seed writes the day before now, as if the workers had run then.
func seed(ctx context.Context, to trace.Sink, now time.Time, log *slog.Logger) {
	var batch trace.Batch
	write := func() bool {
		err := to.Write(ctx, batch)
		if err != nil && ctx.Err() == nil {
			log.Warn("the day of history is not complete", "error", err)
		}
		batch = trace.Batch{}
		return err == nil
	}
	for x := range day(now) {
		batch.Events = append(batch.Events, x.events()...)
		batch.Lines = append(batch.Lines, x.lines()...)
		if len(batch.Events) >= batchSize && !write() {
			return
		}
	}
	write()
}

// past is an execution of the day.
type past struct {
	jobtype.Execution
	job      string
	instance string
	took     time.Duration
	err      string
}

// day goes over the executions of a day, job by job.
func day(now time.Time) func(func(past) bool) {
	random := rand.New(rand.NewPCG(1, 2)) // the same at each start
	return func(yield func(past) bool) {
		for _, j := range jobs("") {
			for tick := now.Add(-24 * time.Hour).Truncate(j.every); j.every > 0 && tick.Before(now.Add(-j.every)); tick = tick.Add(j.every) {
				for item := range j.items() {
					x := past{
						Execution: jobtype.Execution{
							TaskID: identify(tick, j.config.Name, item), Item: item, ScheduledTime: tick, Source: jobtype.SourceNormal,
							Token: tick.Unix() / 60,
						},
						job: j.config.Name, instance: fmt.Sprintf("%s@-@%d", address(item%workers), 4000+item%workers),
						took: j.took*4/5 + time.Duration(random.Int64N(int64(j.took)/2)),
					}
					if item == j.item && random.IntN(100) < j.fails {
						x.err = j.error
					}
					if !yield(x) {
						return
					}
				}
			}
		}
	}
}

// items is how many the job has had.
func (j demoJob) items() int {
	if j.config.Broadcast {
		return workers
	}
	return j.config.ShardingTotalCount
}

// events are what its worker would have told.
func (x past) events() []trace.Event {
	began := x.ScheduledTime.Add(3 * time.Millisecond)
	event := func(at time.Time, kind jobtype.EventKind) trace.Event {
		return trace.Event{ID: identify(at, x.TaskID, int(kind)), Time: at, Kind: kind, Job: x.job, Instance: x.instance, Execution: x.Execution}
	}
	end := event(began.Add(x.took), jobtype.EventFinished)
	end.Attempt, end.Took, end.Outcome, end.Error = 1, x.took, jobtype.OutcomeOK, x.err
	if x.err != "" {
		end.Outcome = jobtype.OutcomeFailed
	}
	return []trace.Event{event(began, jobtype.EventStarted), end}
}

// lines are what its handler would have written: of failures only, which people look at.
func (x past) lines() []trace.Line {
	if x.err == "" {
		return nil
	}
	line := trace.Line{Job: x.job, TaskID: x.TaskID, Instance: x.instance, Item: x.Item, Number: 1, Time: x.ScheduledTime.Add(5 * time.Millisecond), Text: "begins"}
	last := line
	last.Number, last.Time, last.Level, last.Text = 2, x.ScheduledTime.Add(x.took), slog.LevelError, x.err
	return []trace.Line{line, last}
}

// identify makes an id that sorts by time, and is the same for the same execution or event: a UUID of version 7.
func identify(at time.Time, what string, number int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", what, number, at.UnixNano()))
	id := uuid.UUID(sum[:16])
	var milliseconds [8]byte
	binary.BigEndian.PutUint64(milliseconds[:], uint64(at.UnixMilli()))
	copy(id[:6], milliseconds[2:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
