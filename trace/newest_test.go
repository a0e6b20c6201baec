package trace_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
)

func newNewest(t *testing.T, o trace.NewestOptions) *trace.Newest {
	t.Helper()
	n, err := trace.NewNewest(o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func line(task string, item, number int) trace.Line {
	return trace.Line{Job: "settle", TaskID: task, Item: item, Number: number, Text: fmt.Sprintf("%s/%d", task, number)}
}

func eventOf(task string, item int, kind jobtype.EventKind) trace.Event {
	return trace.Event{ID: task + kind.String(), Kind: kind, Job: "settle", Execution: job.Execution{TaskID: task, Item: item}}
}

func show(lines []trace.Line) string {
	var list []string
	for _, l := range lines {
		list = append(list, l.Text)
	}
	return strings.Join(list, " ")
}

func kinds(events []trace.Event) string {
	var list []string
	for _, e := range events {
		list = append(list, e.Kind.String())
	}
	return strings.Join(list, " ")
}

func TestNewest(t *testing.T) {
	n := newNewest(t, trace.NewestOptions{Executions: 3, Lines: 4})
	write := func(b trace.Batch) {
		t.Helper()
		if err := n.Write(t.Context(), b); err != nil {
			t.Error(err)
		}
	}
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	first := trace.Batch{
		Events: []trace.Event{eventOf("a", 0, jobtype.EventClaimed), eventOf("a", 0, jobtype.EventStarted), {ID: "x", Kind: jobtype.EventJoined, Job: "settle"}},
		Lines:  []trace.Line{line("a", 0, 1), line("a", 0, 2), line("b", 1, 1)},
	}
	write(first)
	write(first) // again: nothing is there twice
	check("of an item", show(n.Lines("settle", 0, "", 0)), "a/1 a/2")
	check("what follows", show(n.Lines("settle", 0, "", 1)), "a/2")
	check("nothing follows", show(n.Lines("settle", 0, "", 2)), "")
	check("of a task", show(n.Lines("settle", 0, "a", 0)), "a/1 a/2")
	check("of a task of another item", show(n.Lines("settle", 0, "b", 0)), "")
	check("of another job", show(n.Lines("other", 0, "", 0)), "")
	check("its events", kinds(n.Events("settle", 0, "")), "claimed started")
	check("no events", kinds(n.Events("settle", 2, "")), "")

	var more trace.Batch
	for number := 3; number <= 6; number++ {
		more.Lines = append(more.Lines, line("a", 0, number))
	}
	write(more)
	check("the newest lines", show(n.Lines("settle", 0, "", 0)), "a/3 a/4 a/5 a/6")
	check("after one that is gone", show(n.Lines("settle", 0, "", 1)), "a/3 a/4 a/5 a/6")

	write(trace.Batch{Lines: []trace.Line{line("c", 0, 1)}})
	check("of the latest execution", show(n.Lines("settle", 0, "", 0)), "c/1")
	check("of the one before", show(n.Lines("settle", 0, "a", 5)), "a/6")
	write(trace.Batch{Lines: []trace.Line{line("a", 0, 7), line("d", 2, 1)}}) // b was told of last
	check("what is forgotten", show(n.Lines("settle", 1, "", 0))+show(n.Lines("settle", 1, "b", 0)), "")
	check("what is not", show(n.Lines("settle", 0, "a", 6)), "a/7")
	check("the latest is still that", show(n.Lines("settle", 0, "", 0)), "c/1")

	write(trace.Batch{Lines: []trace.Line{line("c", 0, 2), line("e", 3, 1)}}) // a was told of last
	check("of a task that is forgotten", show(n.Lines("settle", 0, "a", 0)), "")
	check("the latest is still that", show(n.Lines("settle", 0, "", 0)), "c/1 c/2")

	events := []trace.Event{eventOf("f", 4, jobtype.EventStarted)}
	for i := range 200 {
		events = append(events, eventOf("f", 4, jobtype.EventRetried))
		events[i+1].ID = fmt.Sprint(i)
	}
	write(trace.Batch{Events: append(events, eventOf("f", 4, jobtype.EventFinished))})
	if got := strings.Fields(kinds(n.Events("settle", 4, ""))); len(got) != 100 || got[0] != "started" || got[1] != "retried" || got[99] != "finished" {
		t.Errorf("of many events: %q", got)
	}

	for want, o := range map[string]trace.NewestOptions{"Executions -1": {Executions: -1}, "Lines -2": {Lines: -2}, "MaxBytes -3": {MaxBytes: -3}} {
		if _, err := trace.NewNewest(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Whatever comes, the bounds hold, and what is there has no gaps.
func TestNewestIsBounded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		o := trace.NewestOptions{Executions: rapid.IntRange(1, 5).Draw(rt, "executions"), Lines: rapid.IntRange(1, 5).Draw(rt, "lines"), MaxBytes: rapid.SampledFrom([]int{5000, 20_000}).Draw(rt, "bytes")}
		n := newNewest(t, o)
		numbers := map[int]int{}
		for _, task := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 100).Draw(rt, "tasks") {
			numbers[task]++
			b := trace.Batch{
				Lines:  []trace.Line{line(fmt.Sprint(task), task%3, numbers[task])},
				Events: []trace.Event{{ID: fmt.Sprint(task, numbers[task]), Job: "settle", Kind: jobtype.EventRetried, Execution: job.Execution{TaskID: fmt.Sprint(task), Item: task % 3}}},
			}
			if err := n.Write(context.Background(), b); err != nil {
				rt.Error(err)
			}
			if len(n.Lines("settle", task%3, fmt.Sprint(task), numbers[task]-1)) != 1 {
				rt.Error("the newest line is not there")
			}
			known, size := 0, 0
			for task := range 10 {
				lines := n.Lines("settle", task%3, fmt.Sprint(task), 0)
				if len(lines) > 0 {
					known++
				}
				for i, l := range lines {
					size += 160 + len(l.Text)
					if l.Number != numbers[task]-len(lines)+1+i {
						rt.Errorf("of %d lines of %d the %dth is %+v", len(lines), numbers[task], i, l)
					}
				}
				size += 512 * len(n.Events("settle", task%3, fmt.Sprint(task)))
				if len(lines) > o.Lines {
					rt.Errorf("%d lines", len(lines))
				}
			}
			if known > o.Executions || size > o.MaxBytes {
				rt.Errorf("%d executions, %d bytes", known, size)
			}
		}
	})
}
