package api

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// ColumnsInput says which executions are wanted.
type ColumnsInput struct {
	InNamespace
	Job   string    `query:"job" required:"true" minLength:"1" maxLength:"255" doc:"Name of the job."`
	From  time.Time `query:"from" required:"true" doc:"Those that begin at this time or later."`
	To    time.Time `query:"to" required:"true" doc:"Those that begin before this time."`
	Limit int       `query:"limit" minimum:"1" maximum:"100000" default:"100000" doc:"How many executions at most: the newest ones."`
}

// ColumnsInfo are executions of a job, a list for each of their properties.
type ColumnsInfo struct {
	Begin     time.Time         `json:"begin" doc:"Ticks and begun are counted from then on."`
	IDs       []string          `json:"ids" nullable:"false" doc:"Ids of the executions, newest last."`
	Items     []int             `json:"items" nullable:"false" doc:"Numbers of their items."`
	Ticks     []int64           `json:"ticks" nullable:"false" doc:"Their ticks, in milliseconds since begin; -1 if it is not known: a JVM does not tell."`
	Begun     []int64           `json:"begun" nullable:"false" doc:"When their handlers were called, in milliseconds since begin; -1 if it is not known."`
	Duration  []int64           `json:"duration" nullable:"false" doc:"How long they took, in milliseconds; -1 while one runs, and if nobody has told its end."`
	Outcome   []int             `json:"outcome" nullable:"false" doc:"How they have ended: places in outcomes, from 0."`
	Source    []int             `json:"source" nullable:"false" doc:"Why they ran: places in sources, from 0."`
	Instance  []int             `json:"instance" nullable:"false" doc:"Which instances have run them: places in instances, from 0."`
	Outcomes  []history.Outcome `json:"outcomes" nullable:"false" doc:"Outcomes that there are, as those of a single execution."`
	Sources   []string          `json:"sources" nullable:"false" doc:"Sources that there are, as those of a single execution. Empty: a word of a later version."`
	Instances []string          `json:"instances" nullable:"false" doc:"Ids of the instances that there are. Empty: a JVM, which does not tell."`
	More      bool              `json:"more" doc:"Whether older ones in that time are left out."`
}

func (a *API) columns(ctx context.Context, in *ColumnsInput) (*answer[ColumnsInfo], error) {
	reader, err := a.past(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	found, err := reader.Outlines(ctx, history.OutlineQuery{Job: in.Job, From: in.From, To: in.To, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	return &answer[ColumnsInfo]{columnsOf(found, in.From)}, nil
}

// columnsOf turns executions, newest first, into columns, newest last.
func columnsOf(found history.Outlines, from time.Time) ColumnsInfo {
	rows := found.Rows
	begin := from // or earlier: the tick of a backfill is long before it runs
	for _, x := range rows {
		for _, at := range []time.Time{x.ScheduledTime, x.StartTime} {
			if !at.IsZero() && at.Before(begin) {
				begin = at
			}
		}
	}
	zero := begin.UnixMilli()
	since := func(at time.Time) int64 {
		if at.IsZero() {
			return -1
		}
		return at.UnixMilli() - zero
	}
	n := len(rows)
	numbers, places := func() []int64 { return make([]int64, n) }, func() []int { return make([]int, n) }
	c := ColumnsInfo{
		Begin: time.UnixMilli(zero).UTC(), IDs: make([]string, n), Items: places(), Ticks: numbers(), Begun: numbers(), Duration: numbers(),
		Outcome: places(), Source: places(), Instance: places(), More: found.More,
	}
	outcomes, sources, instances := dictionary[history.Outcome]{}, dictionary[string]{}, dictionary[string]{}
	for i, x := range rows {
		at := n - 1 - i
		c.IDs[at], c.Items[at], c.Ticks[at], c.Begun[at], c.Duration[at] = x.ID, x.Item, since(x.ScheduledTime), since(x.StartTime), -1
		if x.Duration >= 0 {
			c.Duration[at] = x.Duration.Milliseconds()
		}
		c.Outcome[at], c.Source[at], c.Instance[at] = outcomes.place(x.Outcome), sources.place(sourceName(x.Source)), instances.place(x.Instance)
	}
	c.Outcomes, c.Sources, c.Instances = outcomes.all(), sources.all(), instances.all()
	return c
}

// dictionary numbers words as they come, from 0.
type dictionary[T ~string] map[T]int

func (d dictionary[T]) place(word T) int {
	n, isThere := d[word]
	if !isThere {
		n = len(d)
		d[word] = n
	}
	return n
}

func (d dictionary[T]) all() []T {
	words := make([]T, len(d))
	for word, n := range d {
		words[n] = word
	}
	return words
}

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
