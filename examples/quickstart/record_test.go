package main

import (
	"strings"
	"testing"
	"time"

	"github.com/elasticjob-go/elasticjob/job"
)

var (
	workers   = map[string]*worker{"A": {name: "A"}, "B": {name: "B"}, "X": {name: "X", lost: true}}
	firstTick = time.Date(2030, 1, 2, 3, 4, 0, 0, time.UTC)
)

// ran makes the runs of an item, of a drawing as String draws it for each tick; … is a run that goes on, and ! one that
// failed. What follows the first run for a tick is a failover, unless it stands after =. Worker X was lost.
func ran(drawings ...string) (of runs) {
	for i, drawing := range drawings {
		source := job.SourceNormal
		for _, letter := range drawing {
			switch letter {
			case '-':
			case '+':
				source = job.SourceMisfire
			case '=':
				source = job.SourceNormal
			case '×', '…', '!':
				of[len(of)-1].State = map[rune]state{'×': cutShort, '…': running, '!': failed}[letter]
			default:
				r := report{Instance: string(letter), Tick: firstTick.Add(time.Duration(i) * every), Source: source, Token: int64(len(of) + 1), State: finished}
				of.add(workers[r.Instance], r)
				source = job.SourceFailover
			}
		}
	}
	return of
}

func TestWhatIsPromised(t *testing.T) {
	for drawings, want := range map[string]string{
		"A A A":     "once",
		"A A×B B":   "once",
		"A X×A×B B": "once",
		"A XB B":    "once", // X was lost before it could say that it had finished
		"A - +A":    "made up for",
		"A - B":     "made up for", // it may have had no owner
		"- - A":     "made up for", // nor before its first run
		"A X×- +B":  "broken",      // cut short and forgotten
		"A A×B× B":  "broken",      // the failover, too
		"A AB B":    "broken",      // had finished
		"A A×=B B":  "broken",      // begun twice
		"A A! A":    "broken",      // failed
		"A A… A":    "broken",      // has not ended
		"A - A":     "broken",      // missed
		"A - -":     "broken",      // missed, and nothing comes after it
	} {
		of, tick, got := ran(strings.Fields(drawings)...), firstTick.Add(every), "broken"
		switch same := of.at(tick); {
		case same.areOnce():
			got = "once"
		case len(same) == 0 && of.makeUpFor(tick):
			got = "made up for"
		}
		if got != want {
			t.Errorf("%s: the second tick is %s, want %s", drawings, got, want)
		}
	}
}

func TestWhenATickIsOver(t *testing.T) {
	for drawings, want := range map[string]bool{
		"A": true, "A!": true, "A×B": true, "- A": true, "A B…": true,
		"": false, "A…": false, "A×": false, "A× B": false, "A×B…": false, "- A…": false,
	} {
		if got := ran(strings.Fields(drawings)...).areOver(firstTick); got != want {
			t.Errorf("%q: the first tick is over: %v, want %v", drawings, got, want)
		}
	}
}

func TestRunsAreInTheOrderOfTheirTokens(t *testing.T) {
	var of runs
	of.add(workers["B"], report{Token: 7})
	of.add(workers["A"], report{Token: 3})
	this, before := of.add(workers["B"], report{Token: 7, State: finished})
	if len(of) != 2 || of[1] != this || of[0] != before || this.State != finished || before.worker.name != "A" {
		t.Errorf("runs %v", of)
	}
}

func TestDrawing(t *testing.T) {
	for _, want := range []string{"A", "A×B", "+A×B", "-"} {
		if got := ran(want).String(); got != want {
			t.Errorf("%s is drawn as %s", want, got)
		}
	}
}

// Of two runs of an item the later one has written, whichever is heard of first.
func TestResultsAreFenced(t *testing.T) {
	var out strings.Builder
	s := &stage{out: &out}
	for _, token := range []int64{1, 3, 2} {
		if err := s.take(event{from: workers["A"], report: &report{Token: token, State: finished, Result: result{Files: int(token)}}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.table[0]; got.Files != 3 || got.fence != 3 || !strings.Contains(out.String(), "is refused") {
		t.Errorf("row %+v, said:\n%s", got, &out)
	}
}

func TestSumUpNamesWhatIsWrong(t *testing.T) {
	s := &stage{out: &strings.Builder{}, drawn: []time.Time{firstTick}}
	for item := range s.record {
		s.record[item] = ran("A")
	}
	if err := s.sumUp(); err != nil {
		t.Fatal(err)
	}
	s.record[2], s.alone[3] = ran("A=B"), result{Files: 1}
	err := s.sumUp()
	if err == nil || !strings.Contains(err.Error(), "item 2, tick 03:04:00: AB") || !strings.Contains(err.Error(), "item 3: {Files:0") {
		t.Errorf("error %v", err)
	}
}
