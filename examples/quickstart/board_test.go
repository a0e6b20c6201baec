package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBoard(t *testing.T) {
	s := &stage{
		settings: settings{items: 4},
		crew: &crew{workers: []*worker{
			{name: "A", pid: 101},
			{name: "B", pid: 102, fate: leaving},
			{name: "C", pid: 103, fate: killed, since: at(5)},
			{name: "D", pid: 104, fate: left, since: at(6)},
			{name: "E", pid: 105, fate: killed, since: at(7)},
		}},
		picture: newPicture(tree(), "count", 4),
		ledger: ledger{items: 4, executions: []*execution{
			ran("C", 0, 0, normal, 1, 0.1),
			{worker: "B", item: 1, tick: at(4), source: misfire, token: 2, done: 5, files: 10},
			{worker: "A", item: 2, tick: at(2), source: failover, token: 3},
			{worker: "A", item: 3, tick: at(4), source: normal, token: 4, done: 9, files: 10},
		}},
		tick: at(2),
	}
	want := []string{
		"",
		"  pid       0     1     2     3",
		"★ A 101     ·           F░░░  ███░",
		"  B 102           M█░░              leaving",
		"  C 103                 ·           killed at 03:04:05",
		"  D 104     left at 03:04:06",
		"  E 105     killed at 03:04:07",
		"",
		"  last tick 03:04:02   runs 4   make-ups 1   failovers 1   waiting for failover: item 2",
		"  ★ leader   · owns   ████ runs   M███ make-up   F███ failover   ×××× cut short",
	}
	var got []string
	for _, l := range s.board(80) {
		got = append(got, strings.TrimRight(text(l), " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	// C's run is still on record, as long as its session seems alive.
	s.picture.running[2] = idC
	if row := text(s.board(80)[4]); !strings.Contains(row, "××××") {
		t.Errorf("row of C: %q", row)
	}
	// Narrow: the columns come closer.
	if heading := strings.TrimRight(text(s.board(30)[1]), " "); heading != "  pid       0   1   2   3" {
		t.Errorf("heading %q", heading)
	}
}

// text returns a line without its styles.
func text(l line) string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

func TestTickLine(t *testing.T) {
	s := &stage{
		settings: settings{items: 2},
		crew:     &crew{workers: []*worker{{name: "A"}, {name: "B"}, {name: "C"}}},
		ledger:   *wellPlayed(),
		tick:     at(4),
	}
	if got, want := s.tickLine(), "tick 03:04:04   B: 0 M1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
