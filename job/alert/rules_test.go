package alert_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job/alert"
)

var errDisk = errors.New("disk full")

// brief says what matters of messages: "3×0,1 disk full", "ok 2".
func brief(messages []alert.Message) string {
	var list []string
	for _, m := range messages {
		items := strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Items), " ", ","), "[]")
		if m.MoreItems {
			items += ",…"
		}
		switch {
		case m.Recovered:
			list = append(list, fmt.Sprintf("ok %s still %d", items, m.Failing))
		case m.Mixed:
			list = append(list, fmt.Sprintf("%d×%s mixed %s", m.Count, items, m.Error))
		default:
			list = append(list, fmt.Sprintf("%d×%s %s", m.Count, items, m.Error))
		}
	}
	return strings.Join(list, "; ")
}

// A script is what happens to a handler, one step after the other: "f0 disk" is a failure of
// item 0, "s0" a success, "1m" a wait.
func TestRules(t *testing.T) {
	for name, tc := range map[string]struct {
		props  map[string]string
		script []string
		want   []string // after each wait, and at the end after Flush
	}{
		"the first at once, the others at the end of the window": {
			script: []string{"f0 disk", "0s", "f1 disk", "f0 disk", "30s", "f1 disk", "30s", "60s", "f0 disk", "0s"},
			want:   []string{"1×0 disk", "", "3×0,1 disk", "", "1×0 disk", ""},
		},
		"a window after each message": {
			script: []string{"f0 disk", "0s", "f0 disk", "60s", "f0 disk", "59s", "1s"},
			want:   []string{"1×0 disk", "1×0 disk", "", "1×0 disk", ""},
		},
		"windows are of an error": {
			script: []string{"f0 disk", "20s", "f0 net", "0s", "f0 disk", "f0 net", "40s", "20s"},
			want:   []string{"1×0 disk", "1×0 net", "1×0 disk", "1×0 net", ""},
		},
		"a window of another length": {
			props:  map[string]string{"alert.window": "1h"},
			script: []string{"f0 disk", "0s", "f0 disk", "59m", "1m"},
			want:   []string{"1×0 disk", "", "1×0 disk", ""},
		},
		"errors without room share a message": {
			props:  map[string]string{"alert.queue": "2"},
			script: []string{"f0 a", "f1 b", "f2 c", "f3 d", "0s", "f0 a", "f4 e", "f5 f", "60s"},
			want:   []string{"1×0 a; 1×1 b; 2×2,3 mixed d", "1×0 a; 2×4,5 mixed f", ""},
		},
		"room is made by what is over": {
			props:  map[string]string{"alert.queue": "1"},
			script: []string{"f0 a", "0s", "60s", "f1 b", "0s", "f2 c", "0s"},
			want:   []string{"1×0 a", "", "1×1 b", "1×2 mixed c", ""},
		},
		"after three in a row": {
			props:  map[string]string{"alert.after": "3"},
			script: []string{"f0 disk", "f1 disk", "f0 disk", "s0", "f0 disk", "f0 disk", "0s", "f0 disk", "0s", "f0 disk", "60s"},
			want:   []string{"", "1×0 disk", "1×0 disk", ""},
		},
		"no recovery unless asked for": {
			script: []string{"f0 disk", "0s", "s0", "10m"},
			want:   []string{"1×0 disk", "", ""},
		},
		"recovery": {
			props:  map[string]string{"alert.recovery": "true"},
			script: []string{"f0 disk", "0s", "f1 disk", "60s", "s0", "s2", "0s", "s0", "s1", "60s", "s1", "60s"},
			want:   []string{"1×0 disk", "1×1 disk", "ok 0 still 1", "ok 1 still 0", "", ""},
		},
		"recovery only of what was told": {
			props:  map[string]string{"alert.recovery": "true", "alert.after": "2"},
			script: []string{"f0 disk", "s0", "0s", "f1 disk", "f1 disk", "0s", "s1", "0s"},
			want:   []string{"", "1×1 disk", "ok 1 still 0", ""},
		},
		"failures before the recovery": {
			props:  map[string]string{"alert.recovery": "true"},
			script: []string{"f0 disk", "0s", "f0 disk", "s0", "0s"},
			want:   []string{"1×0 disk", "1×0 disk; ok 0 still 0", ""},
		},
		"what fails again works not again": {
			props: map[string]string{"alert.recovery": "true", "alert.after": "2"},
			script: []string{"f0 disk", "f0 disk", "s0", "0s", // told; the window of recoveries begins
				"f0 disk", "f0 disk", "s0", "f0 disk", "60s", // not told to work, and its failure not yet counts
				"s0", "0s"},
			want: []string{"1×0 disk; ok 0 still 0", "1×0 disk", "ok 0 still 0", ""},
		},
		"an item that flaps": {
			props:  map[string]string{"alert.recovery": "true"},
			script: []string{"f0 d", "s0", "0s", "f0 d", "s0", "f0 d", "s0", "f0 d", "s0", "0s", "60s"},
			want:   []string{"1×0 d; ok 0 still 0", "", "3×0 d; ok 0 still 0", ""},
		},
		"Flush sends what is not due": {
			props:  map[string]string{"alert.recovery": "true", "alert.window": "24h"},
			script: []string{"f0 d", "s0", "0s", "f0 d", "f1 e", "0s", "f1 e", "s0"},
			want:   []string{"1×0 d; ok 0 still 0", "1×1 e", "1×0 d; 1×1 e; ok 0 still 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s sink
				h := newHandler(t, to(&s), nil, tc.props)
				var got []string
				for _, step := range tc.script {
					what, text, _ := strings.Cut(step, " ")
					if d, err := time.ParseDuration(what); err == nil {
						synctest.Wait() // what is told at once goes before what is told later
						time.Sleep(d)   // of the test's clock
						synctest.Wait()
						got = append(got, brief(s.take()))
						continue
					}
					item := int(what[1] - '0')
					if what[0] == 's' {
						h.HandleSuccess(t.Context(), execution(item))
					} else {
						h.HandleError(t.Context(), execution(item), errors.New(text))
					}
				}
				if err := h.Flush(t.Context()); err != nil {
					t.Error(err)
				}
				got = append(got, brief(s.take()))
				if !slices.Equal(got, tc.want) {
					t.Errorf("\ngot  %q\nwant %q", got, tc.want)
				}
			})
		})
	}
}

func TestMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sink
		h := newHandler(t, to(&s), nil, nil)
		begin := time.Now()
		h.HandleError(t.Context(), execution(3), errDisk)
		synctest.Wait()
		first := s.take()[0]
		want := alert.Message{
			Job: "settle", Host: "host-1", Error: "disk full", Count: 1, Items: []int{3}, First: begin, Last: begin,
			Execution: alert.Execution{Item: 3, TaskID: "task-1", InstanceID: "worker-1@-@7", ScheduledTime: execution(3).ScheduledTime, Source: "NORMAL_TRIGGER", Attempt: 2},
		}
		if fmt.Sprint(first) != fmt.Sprint(want) {
			t.Errorf("\ngot  %+v\nwant %+v", first, want)
		}
		time.Sleep(time.Second)
		for item := range 50 {
			h.HandleError(t.Context(), execution(49-item), errDisk)
			time.Sleep(time.Second / 10)
		}
		if err := h.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := s.take()[0]
		if m.Count != 50 || len(m.Items) != alert.MaxItems || !m.MoreItems || !slices.IsSorted(m.Items) ||
			!m.First.Equal(begin.Add(time.Second)) || !m.Last.Equal(begin.Add(5900*time.Millisecond)) || m.Execution.Item != 0 {
			t.Errorf("got %+v", m)
		}
		if title := m.Title(); !strings.HasPrefix(title, "Job 'settle' failed 50 times: items 30, 31, ") || !strings.HasSuffix(title, ", 49 and more") {
			t.Errorf("title %q", title)
		}
	})
}

func TestText(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := alert.Message{
		Job: "settle", Error: "disk full", Count: 1, Items: []int{3}, First: at, Last: at, Host: "host-1", Unsent: 7,
		Execution: alert.Execution{Item: 3, TaskID: "task-1", InstanceID: "worker-1", ScheduledTime: at, Source: "MISFIRE", Attempt: 2},
	}
	want := `Job 'settle' failed: item 3
Before: 7 failures or recoveries, whose messages could not be sent
Time: 2026-01-02 03:04:05 Z
Scheduled: 2026-01-02 03:04:05 Z
Execution: item 3, attempt 2, MISFIRE
Task: task-1
Instance: worker-1
Host: host-1
Error: disk full`
	if got := m.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	m.Recovered, m.Failing, m.Unsent, m.Items, m.Count, m.Error = true, 1, 0, []int{1, 3}, 2, ""
	if got := m.Text(); !strings.HasPrefix(got, "Job 'settle' works again: items 1, 3\nStill failing: 1 items\n") || strings.Contains(got, "Error") || m.Resolved() {
		t.Errorf("got\n%s", got)
	}
	if m.Failing = 0; !m.Resolved() {
		t.Error("not resolved although nothing fails")
	}
}

// panicking is an error whose text cannot be had.
type panicking struct{}

func (panicking) Error() string { panic("no text") }

func TestBadErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sink
		h := newHandler(t, to(&s), nil, nil)
		for _, err := range []error{panicking{}, nil, errors.New(strings.Repeat("é", 1<<20)), errors.New("a\xffb")} {
			h.HandleError(t.Context(), execution(0), err)
			synctest.Wait()
		}
		if err := h.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := s.take()
		if len(got) != 4 || !strings.Contains(got[0].Error, "panicked") || got[3].Error != got[0].Error {
			t.Fatalf("got %d messages: %.300q", len(got), brief(got))
		}
		if long := got[1].Error; len(long) > alert.MaxErrorText || !strings.HasSuffix(long, "é…") {
			t.Errorf("%d bytes of a long error", len(long))
		}
		if got[2].Error != "a\uFFFDb" {
			t.Errorf("got %q", got[2].Error)
		}
	})
}

// However failures come, messages count each of them once, and are few.
func TestCounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		queue := rapid.IntRange(1, 4).Draw(rt, "queue")
		steps := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 200).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			s := &sink{answer: func(ctx context.Context, call int) error {
				if call%3 == 0 {
					return errors.New("try again")
				}
				return nil
			}}
			begin := time.Now()
			h := newHandler(t, to(s), nil, map[string]string{"alert.queue": fmt.Sprint(queue), "alert.window": "10s"})
			failures := 0
			for _, step := range steps {
				if step == 9 {
					time.Sleep(time.Second)
					continue
				}
				failures++
				h.HandleError(t.Context(), execution(step), fmt.Errorf("error %d", step))
			}
			if err := h.Flush(t.Context()); err != nil {
				rt.Error(err)
			}
			windows := 2 + int(time.Since(begin)/(10*time.Second))
			counted, messages := 0, s.take()
			for _, m := range messages {
				counted += m.Count
			}
			if counted != failures || len(messages) > windows*(queue+1) {
				rt.Errorf("%d messages in %d windows tell of %d failures, there were %d", len(messages), windows, counted, failures)
			}
		})
	})
}
