package command

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// twoItems is a history of two executions: a has ended, and b ends after it was asked for twice.
type twoItems struct {
	history.Reader
	begin time.Time
	asked int
}

func (r *twoItems) Execution(_ context.Context, id string) (history.Execution, error) {
	x := history.Execution{ID: id, Outcome: "OK"}
	if id == "b" {
		if r.asked++; r.asked <= 2 {
			x.Outcome = history.OutcomeRunning
		}
	}
	return x, nil
}

func (r *twoItems) Lines(_ context.Context, id string, after, limit int) (list []trace.Line, _ error) {
	count, item, late := 250, 3, 0*time.Millisecond // more than a page
	if id == "b" {
		count, item, late = 2*r.asked, 12, time.Millisecond
	}
	for n := after + 1; n <= count && len(list) < limit; n++ {
		list = append(list, trace.Line{Number: n, Item: item, Time: r.begin.Add(time.Duration(n)*10*time.Millisecond + late), Text: id})
	}
	return list, nil
}

// Lines of several items come by time, each after its item, and those to come follow.
func TestLogsOfItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := logPrinter{
			cli: &cli{env: Environment{Out: &out}, output: show.TableFormat}, reader: &twoItems{begin: time.Now()},
			logs: []*execLog{{id: "a"}, {id: "b"}}, hasItems: true, isFollowed: true,
		}
		if err := p.print(t.Context()); err != nil {
			t.Fatal(err)
		}
		var order strings.Builder
		for line := range strings.Lines(out.String()) {
			order.WriteString(strings.TrimSpace(line[len(line)-2:]))
		}
		if want := "abab" + strings.Repeat("a", 248) + "bbbb"; order.String() != want {
			t.Errorf("got  %s\nwant %s", &order, want)
		}
		if !strings.HasPrefix(out.String(), "[3] ") || !strings.Contains(out.String(), "\n[12] ") {
			t.Errorf("the beginning is %.200s", out.String())
		}
	})
}
