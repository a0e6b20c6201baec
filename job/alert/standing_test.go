package alert_test

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
	"github.com/elasticjob-go/elasticjob/job/alert"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// stateBrief says what matters of messages about the whole job.
func stateBrief(messages []alert.Message) string {
	var list []string
	for _, m := range messages {
		list = append(list, fmt.Sprintf("%s, %d hold", strings.TrimPrefix(m.Title(), "Job 'settle': "), m.Holding))
	}
	return strings.Join(list, "; ")
}

var kinds = map[string]jobtype.FaultKind{"store": jobtype.FaultStore, "tree": jobtype.FaultTree, "starvation": jobtype.FaultStarvation}

// A script is how a job stands, one step after the other: "lead", "follow", "+store" is a fault, "-store" its end,
// "unbegun" and "begun" are of the last tick, "undone" with items and "done" of the tick of this day. "3m" is a wait in
// which the scheduler tells the state every 30 s, "silent 3m" one in which it says nothing. Ticks are at 02:00; it is
// midnight.
func TestStates(t *testing.T) {
	for name, tc := range map[string]struct {
		props  map[string]string
		jitter time.Duration
		script []string
		want   []string // after each wait, and at the end after Flush
	}{
		"a fault after two minutes, once": {
			script: []string{"lead", "+store", "90s", "30s", "10m", "-store", "1m"},
			want:   []string{"", "fault of the kind store, 1 hold", "", "", ""},
		},
		"starvation after 30 s": {
			script: []string{"lead", "+starvation", "0s", "30s", "10m"},
			want:   []string{"", "items should have begun and have not, 1 hold", "", ""},
		},
		"a fault that is over in time": {
			props:  map[string]string{"alert.recovery": "true"},
			script: []string{"lead", "+store", "90s", "-store", "30s", "+store", "90s"},
			want:   []string{"", "", "", ""},
		},
		"the end of faults": {
			props:  map[string]string{"alert.recovery": "true"},
			script: []string{"lead", "+store", "+tree", "2m", "-tree", "30s", "-store", "0s", "30s"},
			want:   []string{"2", "it is over: fault of the kind tree, 1 hold", "it is over: fault of the kind store, 0 hold", "", ""},
		},
		"a fault that comes back has a window": {
			props:  map[string]string{"alert.recovery": "true", "alert.window": "1h"},
			script: []string{"lead", "+starvation", "30s", "-starvation", "0s", "+starvation", "30s", "-starvation", "30s", "58m", "90s"},
			want: []string{
				"items should have begun and have not, 1 hold", "it is over: items should have begun and have not, 0 hold", "", "", "",
				"items should have begun and have not, 0 hold; it is over: items should have begun and have not, 0 hold", "",
			},
		},
		"what begins again is not told to be over": {
			props:  map[string]string{"alert.recovery": "true", "alert.window": "1h"},
			script: []string{"lead", "+starvation", "30s", "-starvation", "0s", "+starvation", "30s", "-starvation", "0s", "+starvation", "61m"},
			want: []string{
				"items should have begun and have not, 1 hold", "it is over: items should have begun and have not, 0 hold", "", "",
				"items should have begun and have not, 1 hold", "",
			},
		},
		"only the leader tells": {
			script: []string{"follow", "+store", "unbegun", "10m", "lead", "90s", "follow", "10m", "lead", "90s", "30s"},
			want:   []string{"", "ticks came and nothing has started, 1 hold", "", "ticks came and nothing has started, 1 hold", "fault of the kind store, 2 hold", ""},
		},
		"no faults if they are not wanted": {
			props:  map[string]string{"alert.faults": "false", "alert.missed": "false"},
			script: []string{"lead", "+store", "unbegun", "1h", "silent 1h"},
			want:   []string{"", "", ""},
		},
		"ticks that came while nobody was there": {
			script: []string{"1h", "unbegun", "3m", "lead", "0s", "1h"},
			want:   []string{"", "", "ticks came and nothing has started, 1 hold", "", ""},
		},
		"a tick that nothing begins": {
			props:  map[string]string{"alert.recovery": "true"},
			script: []string{"lead", "unbegun", "150s", "30s", "begun", "0s"},
			want:   []string{"", "ticks came and nothing has started, 1 hold", "it is over: ticks came and nothing has started, 0 hold", ""},
		},
		"a tick with jitter": {
			jitter: time.Minute,
			script: []string{"lead", "unbegun", "210s", "30s"},
			want:   []string{"", "ticks came and nothing has started, 1 hold", ""},
		},
		"not done by a time of day": {
			props:  map[string]string{"alert.by": "06:00", "alert.recovery": "true"},
			script: []string{"lead", "1h", "undone 1,3", "299m", "1m", "2h", "done", "0s", "24h"},
			want:   []string{"", "", "not done by 06:00: items 1, 3, 1 hold", "", "it is over: not done by 06:00: items 1, 3, 0 hold", "", ""},
		},
		"not done some time after the tick": {
			props:  map[string]string{"alert.by": "90m"},
			script: []string{"lead", "2h", "undone 0", "89m", "1m", "24h"},
			want:   []string{"", "", "not done 90m after its tick: item 0, 1 hold", "not done 90m after its tick: item 0, 1 hold", ""},
		},
		"each day": {
			props:  map[string]string{"alert.by": "06:00"},
			script: []string{"lead", "2h", "undone 0", "3h", "1h", "23h", "1h"},
			want:   []string{"", "", "not done by 06:00: item 0, 1 hold", "", "not done by 06:00: item 0, 1 hold", ""},
		},
		"what was done stays done": {
			props:  map[string]string{"alert.by": "06:00"},
			script: []string{"lead", "6h", "undone 0", "10h"},
			want:   []string{"", "", ""},
		},
		"a leader that falls silent": {
			props:  map[string]string{"alert.recovery": "true"},
			script: []string{"lead", "0s", "silent 119s", "silent 1s", "silent 1h", "follow", "0s", "silent 1h"},
			want:   []string{"", "", "fault of the kind store, 1 hold", "", "it is over: fault of the kind store, 0 hold", "", ""},
		},
		"a silent leader does not tell that other things are over": {
			props:  map[string]string{"alert.recovery": "true"},
			script: []string{"lead", "+tree", "2m", "silent 2m", "0s", "-tree", "0s"},
			want: []string{
				"fault of the kind tree, 1 hold", "fault of the kind store, 2 hold", "it is over: fault of the kind store, 1 hold",
				"it is over: fault of the kind tree, 0 hold", "",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s sink
				midnight := time.Now().UTC()
				made, err := to(&s).ErrorHandler(job.Config{Name: "settle", Cron: "0 0 2 * * ?", Props: tc.props, Jitter: tc.jitter}, slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				h := made.(interface {
					job.StateHandler
					job.Flusher
				})
				is := job.JobState{LastTick: func(by time.Time) time.Time {
					tick := midnight.Add(by.Sub(midnight).Truncate(24 * time.Hour)).Add(2 * time.Hour)
					if tick.After(by) {
						tick = tick.AddDate(0, 0, -1)
					}
					return tick
				}}
				var undone []int
				is.Undone = func(time.Time) []int { return undone }
				tell := func() {
					is.Now = time.Now().UTC()
					h.HandleState(is)
				}
				var got []string
				for _, step := range tc.script {
					what, rest, _ := strings.Cut(step, " ")
					silent := what == "silent"
					if silent {
						what = rest
					}
					if d, err := time.ParseDuration(what); err == nil {
						for end := time.Now().Add(d); ; {
							if !silent {
								tell()
							}
							synctest.Wait()
							left := time.Until(end)
							if left <= 0 {
								break
							}
							time.Sleep(min(left, 30*time.Second)) // of the test's clock
						}
						messages := s.take()
						if len(messages) == 2 && messages[0].First.Equal(messages[1].First) && messages[0].What != messages[1].What { // their order is not fixed
							got = append(got, "2")
						} else {
							got = append(got, stateBrief(messages))
						}
						continue
					}
					switch kind := step[1:]; {
					case step == "lead", step == "follow":
						is.Leads = step == "lead"
					case step == "unbegun":
						is.Unbegun = time.Now()
					case step == "begun":
						is.Unbegun = time.Time{}
					case what == "undone":
						undone = nil
						for item := range strings.SplitSeq(rest, ",") {
							undone = append(undone, int(item[0]-'0'))
						}
					case step == "done":
						undone = nil
					case step[0] == '+':
						is.Faults = append(is.Faults, job.InstanceFault{InstanceID: "worker-1@-@7", Fault: job.Fault{Kind: kinds[kind], Err: errDisk, Since: time.Now()}})
					default:
						is.Faults = slices.DeleteFunc(slices.Clone(is.Faults), func(f job.InstanceFault) bool { return f.Kind == kinds[kind] })
					}
				}
				if err := h.Flush(t.Context()); err != nil {
					t.Error(err)
				}
				got = append(got, stateBrief(s.take()))
				if !slices.Equal(got, tc.want) {
					t.Errorf("\ngot  %q\nwant %q", got, tc.want)
				}
			})
		})
	}
}

func TestStateText(t *testing.T) {
	at := time.Date(2026, 1, 2, 6, 0, 5, 0, time.UTC)
	m := alert.Message{
		Job: "settle", About: alert.AboutLate, What: "not done by 06:00", Count: 1, Items: []int{3}, First: at, Last: at, Host: "host-1", Holding: 1,
		Execution: alert.Execution{ScheduledTime: at.Add(-4 * time.Hour)},
	}
	want := `Job 'settle': not done by 06:00: item 3
Time: 2026-01-02 06:00:05 Z
Scheduled: 2026-01-02 02:00:05 Z
Host: host-1`
	if got := m.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	m.About, m.Fault, m.What, m.Error, m.Items, m.Execution = alert.AboutFault, "store", "fault of the kind store", "no answer", nil, alert.Execution{InstanceID: "worker-1@-@7"}
	want = `Job 'settle': fault of the kind store
Time: 2026-01-02 06:00:05 Z
Instance: worker-1@-@7
Host: host-1
Error: no answer`
	if got := m.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	m.Recovered, m.Error = true, ""
	if got := m.Text(); !strings.HasPrefix(got, "Job 'settle': it is over: fault of the kind store\nStill holding: 1 ") || strings.Contains(got, "Error") || m.Resolved() {
		t.Errorf("got\n%s", got)
	}
	if m.Holding = 0; !m.Resolved() {
		t.Error("not resolved although nothing holds")
	}
}

// The times and the words are those of the alerts.
func TestStatesAreThoseOfTheRules(t *testing.T) {
	text, err := os.ReadFile("../../deploy/prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]string{}
	for rule := range strings.SplitSeq(string(text), "- alert: ") {
		name, rest, _ := strings.Cut(rule, "\n")
		rules[name] = rest
	}
	for name, after := range alert.After() {
		_, text, _ := strings.Cut(rules[name], "\n        for: ")
		text, _, _ = strings.Cut(text, "\n")
		lasts, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "ElasticJobTickMissed" {
			if !strings.Contains(rules[name], "> 120\n") {
				t.Errorf("%s is not about ticks of 120 s ago", name)
			}
			lasts += 120 * time.Second
		}
		if lasts != after {
			t.Errorf("%s comes after %v, messages after %v", name, lasts, after)
		}
	}
	for name, words := range map[string]string{
		"ElasticJobDidNotRun": "ticks came and nothing has started", "ElasticJobStarves": "items should have begun and have not", "ElasticJobFault": "fault of the kind ",
	} {
		if !strings.Contains(rules[name], "summary: 'Job {{ $labels.job_name }}: "+words) {
			t.Errorf("%s does not say %q", name, words)
		}
	}
}
