package main

import (
	"slices"
	"testing"
)

func TestLedger(t *testing.T) {
	about := func(k kind, second float64, item int, token int64) report {
		return report{Kind: k, At: at(second), Item: item, Tick: at(0), Source: normal, Token: token}
	}
	l := &ledger{items: 2}
	l.enter("A", about(begins, 0.1, 0, 10))
	l.enter("A", about(begins, 0.1, 1, 10))
	halfway := about(goesOn, 0.5, 1, 10)
	halfway.Done, halfway.Files = 5, 10
	l.enter("A", halfway)
	if under := items(l.under("A")); !slices.Equal(under, []int{0, 1}) {
		t.Errorf("under way are %v", under)
	}
	l.enter("A", about(ends, 1.1, 0, 10))
	l.died("A", at(1.2))
	if !l.through().IsZero() {
		t.Errorf("through %v, although item 1 was cut short", l.through())
	}
	cut := l.cut("A", at(1.15))
	if len(cut) != 1 || cut[0].item != 1 || cut[0].done != 5 || cut[0].files != 10 || !cut[0].ended.Equal(at(1.2)) {
		t.Fatalf("cut short were %+v", cut)
	}
	if again := l.rerun(cut[0]); again != nil || len(l.pending()) != 1 {
		t.Errorf("run again: %+v", again)
	}

	repeat := about(begins, 3, 1, 20)
	repeat.Source = failover
	e := l.enter("B", repeat)
	if l.rerun(cut[0]) != e || len(l.pending()) != 0 {
		t.Errorf("%+v is not found as the failover of %+v", e, cut[0])
	}

	next := about(begins, 4, 1, 30)
	next.Tick = at(2)
	l.enter("B", next)
	next.Kind, next.At = ends, at(5)
	if e := l.enter("B", next); e.outcome != finished {
		t.Errorf("outcome %v", e.outcome)
	}
	if !l.through().Equal(at(0)) {
		t.Errorf("through %v: item 0 has run for %v, item 1 for a later tick", l.through(), at(0))
	}
}

func TestOutcomeOfAReport(t *testing.T) {
	for _, test := range []struct {
		report report
		want   outcome
	}{
		{report{Kind: ends, Result: &result{}}, finished},
		{report{Kind: ends, Error: "disk on fire"}, failed},
		{report{Kind: ends, Error: "session lost", Cut: true}, cutShort},
	} {
		if got := test.report.outcome(); got != test.want {
			t.Errorf("%+v: outcome %v, want %v", test.report, got, test.want)
		}
	}
}
