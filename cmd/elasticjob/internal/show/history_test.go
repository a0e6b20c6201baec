package show_test

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
	"github.com/elasticjob-go/elasticjob/jobtype"
	"github.com/elasticjob-go/elasticjob/trace"
	"github.com/elasticjob-go/elasticjob/trace/history"
)

// A JVM's error is a whole stack. It is one line of a table, and complete for programs.
func TestErrorsInTables(t *testing.T) {
	stack := "java.lang.IllegalStateException: no stock\r\n\tat com.example.Settle.execute(Settle.java:7)\n" + strings.Repeat("\tat com.example.Frame.call(Frame.java:1)\n", 80)
	long := strings.Repeat("long ", 200)
	executions := show.Executions(history.Page[history.Execution]{Rows: []history.Execution{{ID: "x1", Error: stack}, {ID: "x2", Error: long}, {ID: "x3", Error: "\n  refused\n"}}}, "")
	events := show.Events(history.Page[trace.Event]{Rows: []trace.Event{{ID: "x1", Error: stack}, {ID: "x2", Error: long}, {ID: "x3", Error: "\n  refused\n"}}}, "")
	for name, result := range map[string]show.Result{"history": executions, "events": events} {
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(printed(t, result, show.Wide), "\n")
			for i, want := range []string{"java.lang.IllegalStateException: no stock … ", "long long", "refused "} {
				line := lines[i+1] + " "
				if !strings.Contains(line, want) || strings.Contains(line, "Settle.java") || len(line) > 500 {
					t.Errorf("%q: want %q in one short line", line, want)
				}
			}
			if text := printed(t, result, show.JSON); !strings.Contains(text, "Settle.java:7") || strings.Count(text, "Frame.java") != 80 || !strings.Contains(text, long) {
				t.Errorf("texts are cut for programs: %s", text)
			}
		})
	}
}

// Of ticks that were made up it says which, how many, and of which item.
func TestMadeUpInTables(t *testing.T) {
	page := show.Events(history.Page[trace.Event]{Rows: []trace.Event{{
		Kind: jobtype.EventMadeUp, Job: "settle", Execution: jobtype.Execution{ScheduledTime: time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)}, Ticks: 7,
	}}}, "")
	if text := strings.Join(strings.Fields(printed(t, page, show.TableFormat)), " "); !strings.Contains(text, "made up settle - 0 2026-03-01 12:00:00 7") {
		t.Error(text)
	}
	for _, want := range []string{`"item": 0`, `"scheduledTime": "2026-03-01`, `"count": 7`} {
		if text := printed(t, page, show.JSON); !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

func printed(t *testing.T, result show.Result, format show.Format) string {
	t.Helper()
	var out strings.Builder
	if err := (show.Printer{Out: &out, Format: format}).Print(result); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
