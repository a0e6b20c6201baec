package jobtype_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/jobtype"
)

func TestDifferences(t *testing.T) {
	before := jobtype.Config{Name: "settle", ShardingTotalCount: 3, Listeners: []string{"a,b"}, Props: map[string]string{"gone": "x", "same": "y", "other": "1"}}
	after := before
	after.ShardingTotalCount, after.Overlap, after.Timeout = 4, jobtype.OverlapWait, time.Minute // OverlapWait is the default
	after.Listeners, after.Props = []string{"a", "b"}, map[string]string{"same": "y", "other": "2", "new": ""}
	want := []jobtype.Difference{
		{Field: "shardingTotalCount", Before: "3", After: "4"},
		{Field: "props: execution.timeout.seconds", Before: "0", After: "60", GoOnly: true},
		{Field: "jobListenerTypes", Before: "a,b", After: "a,b"},
		{Field: "props: gone", Before: "x"},
		{Field: "props: new"},
		{Field: "props: other", Before: "1", After: "2"},
	}
	if got := before.Differences(after); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := before.Differences(before.WithDefaults()); len(got) > 0 {
		t.Errorf("defaults are no difference: %+v", got)
	}
	for _, d := range after.Differences(before) {
		if strings.HasPrefix(d.Field, "props: execution") && d.Before != "60" {
			t.Errorf("the other way round: %+v", d)
		}
	}
}

// Configurations differ in some field unless they are equal, and the other way round in the same fields.
func TestDifferencesOfAnyConfig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyConfig().Draw(t, "a"), anyConfig().Draw(t, "b")
		there, back := a.Differences(b), b.Differences(a)
		if (len(there) == 0) != a.Equal(b) {
			t.Fatalf("%+v\n%+v\ndiffer in %+v", a, b, there)
		}
		for n := range there {
			there[n].Before, there[n].After = there[n].After, there[n].Before
		}
		if !slices.Equal(there, back) || len(a.Differences(a)) > 0 {
			t.Fatalf("%+v, and %+v", there, back)
		}
	})
}
