package liveness_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/liveness"
)

// An outage begins when patience is over, or some time after a reason to doubt the store, and ends
// with the next answer. As long as there are answers there is none.
func TestOutages(t *testing.T) {
	const timeout = 10 * time.Second
	for name, test := range map[string]struct {
		answers  []time.Duration
		suspects []time.Duration
		want     []string
	}{
		"no answer":                    {want: []string{"begins at 9s, since 0s"}},
		"answers":                      {answers: []time.Duration{3 * time.Second, 11 * time.Second, 19 * time.Second}},
		"the last answer counts":       {answers: []time.Duration{3 * time.Second}, want: []string{"begins at 12s, since 3s"}},
		"a reason to doubt":            {answers: []time.Duration{3 * time.Second}, suspects: []time.Duration{4 * time.Second}, want: []string{"begins at 4.8s, since 3s"}},
		"the first reason counts":      {suspects: []time.Duration{4 * time.Second, 4200 * time.Millisecond}, want: []string{"begins at 4.8s, since 0s"}},
		"an answer refutes a reason":   {suspects: []time.Duration{4 * time.Second}, answers: []time.Duration{4400 * time.Millisecond, 13 * time.Second}, want: nil},
		"a reason after patience":      {suspects: []time.Duration{8900 * time.Millisecond}, want: []string{"begins at 9s, since 0s"}},
		"an answer ends it":            {answers: []time.Duration{12 * time.Second}, want: []string{"begins at 9s, since 0s", "ends at 12s"}},
		"a reason in an outage":        {suspects: []time.Duration{10 * time.Second}, answers: []time.Duration{12 * time.Second}, want: []string{"begins at 9s, since 0s", "ends at 12s"}},
		"another one after an outage":  {answers: []time.Duration{10 * time.Second}, want: []string{"begins at 9s, since 0s", "ends at 10s", "begins at 19s, since 10s"}},
		"a reason after an outage too": {answers: []time.Duration{10 * time.Second}, suspects: []time.Duration{11 * time.Second}, want: []string{"begins at 9s, since 0s", "ends at 10s", "begins at 11.8s, since 10s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m liveness.Monitor
				var got []string
				begin := time.Now()
				m.Answered() // before Start nothing counts
				m.Suspect()
				m.Start(timeout, func(outage int, since time.Time) {
					got = append(got, fmt.Sprintf("begins at %v, since %v", time.Since(begin), since.Sub(begin)))
				}, func(outage int) { got = append(got, fmt.Sprintf("ends at %v", time.Since(begin))) })
				for _, at := range test.answers {
					time.AfterFunc(at, m.Answered)
				}
				for _, at := range test.suspects {
					time.AfterFunc(at, m.Suspect)
				}
				<-time.After(20 * time.Second)
				m.Stop()
				<-time.After(20 * time.Second)
				if !slices.Equal(got, test.want) {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		})
	}
}
