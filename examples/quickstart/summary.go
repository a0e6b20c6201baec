package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// errNotAsPromised says that the show has come to its end and a promise was broken.
var errNotAsPromised = errors.New("not everything was as promised")

// sumUp prints a summary of the record, and returns errNotAsPromised if a promise was broken.
func (s *stage) sumUp(begun time.Time, alone []result) error {
	v := s.ledger.check(s.until, s.every)
	differences := s.results.differ(alone)
	s.screen.wipe()
	out := s.screen.out
	fmt.Fprintln(out)
	row := func(name string, number int, format string, args ...any) {
		fmt.Fprintf(out, "  %-14s %5d   %s\n", name, number, fmt.Sprintf(format, args...))
	}
	row("ticks", len(v.ticks), "one every %v, %s to %s", s.every, clock(v.ticks[0]), clock(s.until))
	row("runs", len(s.ledger.executions), "%d on their tick, %d make-ups, %d failovers", v.onTime, v.makeUps, v.failovers())
	row("make-ups", v.makeUps, "late runs, each for all the ticks that its item had missed")
	row("failovers", v.failovers(), "%s", s.failovers(v))
	row("items × ticks", len(v.ticks)*s.items, "%s", s.exactlyOnce(v))
	total := result{}
	for _, r := range alone {
		total.Files, total.Bytes, total.Lines = total.Files+r.Files, total.Bytes+r.Bytes, total.Lines+r.Lines
	}
	equal := "as counted by one process alone"
	if len(differences) > 0 {
		equal = "when counted by one process alone, which differs"
	}
	row("files", total.Files, "%d bytes, %d lines, %s", total.Bytes, total.Lines, equal)
	fmt.Fprintln(out)

	faults := append(v.faults, differences...)
	if len(faults) == 0 {
		fmt.Fprintf(out, "  All as promised, in %.0f s.\n", time.Since(begun).Seconds())
		return nil
	}
	if changed := changedSince(s.dir, begun); len(differences) > 0 && len(changed) > 0 {
		faults = append(faults, fmt.Sprintf("%s changed meanwhile, which explains different counts", strings.Join(changed, ", ")))
	}
	for _, fault := range faults {
		fmt.Fprintln(out, "  ✗", fault)
	}
	return errNotAsPromised
}

func (s *stage) exactlyOnce(v verdict) string {
	if len(v.faults) > 0 {
		return "not each begun exactly once; see below"
	}
	if v.covered == 0 {
		return "each begun exactly once"
	}
	return fmt.Sprintf("%d begun, each exactly once, and %d missed and made up for", len(v.ticks)*s.items-v.covered, v.covered)
}

func (s *stage) failovers(v verdict) string {
	text := "all of runs that were cut short"
	if v.unsaid > 0 {
		text = fmt.Sprintf("%d of runs that were cut short, %d of runs whose instance was lost just before or after them", v.repeats, v.unsaid)
	}
	for _, e := range s.ledger.cut(s.victim.name, s.victim.since) {
		if again := s.ledger.rerun(e); again != nil {
			return fmt.Sprintf("%s; the first began %.2f s after the kill", text, again.begun.Sub(s.victim.since).Seconds())
		}
	}
	return text
}

// changedSince returns some of the files that were written since then.
func changedSince(dir string, since time.Time) []string {
	const some = 3
	files, err := list(dir)
	if err != nil {
		return nil
	}
	var changed []string
	for _, file := range files {
		info, err := os.Stat(filepath.Join(dir, file))
		if err == nil && info.ModTime().After(since) {
			changed = append(changed, file)
		}
		if len(changed) == some {
			break
		}
	}
	return changed
}
