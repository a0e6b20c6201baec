package api

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// LanesInput says which time is wanted.
type LanesInput struct {
	InNamespace
	From time.Time `query:"from" required:"true" doc:"From this time on, or a little earlier."`
	To   time.Time `query:"to" required:"true" doc:"Before this time, at most 7 days later."`
}

// LanesInfo are jobs, each with the cells of a time.
type LanesInfo struct {
	From time.Time  `json:"from" doc:"When the first cell begins."`
	Step float64    `json:"step" doc:"How many seconds a cell has: 900 if so many executions have begun that they are not read one by one. Then what runs, and what JVMs have written, is not among them."`
	Jobs []LaneInfo `json:"jobs" nullable:"false" maxItems:"5000" doc:"Those that you may see and of which something is known, by name."`
	More bool       `json:"more" doc:"Whether there are more jobs."`
}

// LaneInfo is a job with its cells.
type LaneInfo struct {
	Job        string `json:"job" doc:"Name of the job."`
	Cells      string `json:"cells" doc:"A letter for each cell: o: executions have begun; f: some of them have failed; m: ticks were missed; x: both of that; a point: nothing."`
	Executions int    `json:"executions" doc:"How many executions have begun."`
	Failed     int    `json:"failed" doc:"How many of them have failed."`
	Missed     int    `json:"missed" doc:"How many ticks were missed; those of each item count by themselves."`
}

func (a *API) lanes(ctx context.Context, in *LanesInput) (*answer[LanesInfo], error) {
	reader, err := a.history(ctx)
	if err != nil {
		return nil, err
	}
	found, err := reader.Lanes(ctx, in.From, in.To)
	if err != nil {
		return nil, err
	}
	l := LanesInfo{From: found.From, Step: found.Step.Seconds(), Jobs: []LaneInfo{}, More: found.More}
	for _, job := range slices.Sorted(maps.Keys(found.Cells)) {
		if a.seesPast(ctx, job) {
			l.Jobs = append(l.Jobs, laneOf(job, found.Cells[job]))
		}
	}
	return &answer[LanesInfo]{l}, nil
}

func laneOf(job string, cells []history.Cell) LaneInfo {
	l := LaneInfo{Job: job}
	letters := make([]byte, len(cells))
	for n, c := range cells {
		l.Executions, l.Failed, l.Missed = l.Executions+int(c.Executions), l.Failed+int(c.Failed), l.Missed+int(c.Missed)
		switch {
		case c.Failed > 0 && c.Missed > 0:
			letters[n] = 'x'
		case c.Failed > 0:
			letters[n] = 'f'
		case c.Missed > 0:
			letters[n] = 'm'
		case c.Executions > 0:
			letters[n] = 'o'
		default:
			letters[n] = '.'
		}
	}
	l.Cells = string(letters)
	return l
}
