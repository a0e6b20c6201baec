package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/elasticjob-go/elasticjob/job"
)

// tables are one table, as the program and as a worker have it.
func tables(t *testing.T, entries int) (reader, writer *table) {
	t.Helper()
	reader, file, err := newTable(entries)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	t.Cleanup(reader.close)
	if writer, err = openTable(file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(writer.close)
	return reader, writer
}

func TestNoted(t *testing.T) {
	reader, writer := tables(t, 10)
	want := []entry{
		{kind: aRun, source: job.SourceMisfire, job: 49_999, item: 99_999, tick: second(1), begun: second(1.5)},
		{kind: aChange, job: 7, items: 100_000, begun: second(2)},
	}
	for i, e := range want {
		if got := writer.add(e); got != i || reader.count() != i+1 {
			t.Errorf("entry %d is number %d, and there are %d", i, got, reader.count())
		}
	}
	want[0].ended = second(1.7)
	writer.end(0, want[0].ended)
	got, err := reader.entries()
	equal := cmp.AllowUnexported(entry{})
	if diff := cmp.Diff(want, got, equal, cmp.Comparer(time.Time.Equal)); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// What does not fit is not lost silently.
func TestFullTable(t *testing.T) {
	reader, writer := tables(t, 3)
	for range 5 {
		writer.end(writer.add(entry{kind: aRun, tick: second(1), begun: second(1)}), second(2))
	}
	if _, err := reader.entries(); err == nil {
		t.Error("a full table is taken for whole")
	}
}

// A worker that was killed while it noted a run has left a gap.
func TestGap(t *testing.T) {
	reader, writer := tables(t, 1000)
	e := entry{kind: aRun, tick: second(1), begun: second(1)}
	writer.add(e)
	writer.used.Add(2)
	writer.add(e)
	if got, err := reader.entries(); err != nil || len(got) != 2 {
		t.Errorf("%d entries, %v", len(got), err)
	}
}
