package jobtree_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

// Members of different versions must find the same id, so it must never change.
func TestTaskID(t *testing.T) {
	tick := time.Date(2026, 11, 20, 23, 14, 28, 5_999_999, time.FixedZone("", 3600))
	const want = "01a1fb06-79a5-8965-b3d8-69499cff4ab6"
	if got := jobtree.TaskID("settle", 7, "10.0.0.1@-@1-abc", 42, tick); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := jobtree.TaskID("settle", 7, "10.0.0.1@-@1-abc", 42, time.Time{}); !strings.HasPrefix(got, "00000000-0000-8") {
		t.Errorf("without a tick: %s", got)
	}
}

func TestTaskIDs(t *testing.T) {
	type claim struct {
		job   string
		item  int
		by    string
		token int64
		ms    int64
	}
	of := func(t *rapid.T, name string) claim {
		return claim{
			rapid.SampledFrom([]string{"a", "ab", "a1"}).Draw(t, name+" job"), rapid.IntRange(0, 20).Draw(t, name+" item"),
			rapid.SampledFrom([]string{"", "1", "b", "b1"}).Draw(t, name+" by"), rapid.Int64Range(1, 120).Draw(t, name+" token"),
			rapid.Int64Range(0, 1<<48-1).Draw(t, name+" tick"),
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := of(t, "a"), of(t, "b")
		if rapid.Bool().Draw(t, "same tick") {
			b.ms = a.ms
		}
		id := func(c claim) string {
			id := jobtree.TaskID(jobtree.Job(c.job), c.item, c.by, c.token, time.UnixMilli(c.ms))
			if parsed, err := uuid.Parse(id); err != nil || parsed.Version() != 8 || parsed.Variant() != uuid.RFC4122 {
				t.Fatalf("%s: %v", id, err)
			}
			return id
		}
		if x, y := id(a), id(b); (x == y) != (a == b) || a.ms != b.ms && cmp.Compare(x, y) != cmp.Compare(a.ms, b.ms) {
			t.Fatalf("%+v: %s, %+v: %s", a, x, b, y)
		}
	})
}

func TestOriginal(t *testing.T) {
	tick := time.Date(2026, 11, 20, 23, 14, 28, 5e6, time.UTC)
	const id = "019aa3cf-4a8d-8b56-a94f-f8ed2b2a8d9f"
	for name, tc := range map[string]struct {
		value string
		tick  time.Time
		want  string
	}{
		"of the tick":         {string(jobtree.EncodeOriginal(id, tick)), tick.In(time.FixedZone("", 3600)), id},
		"of another tick":     {string(jobtree.EncodeOriginal(id, tick)), tick.Add(time.Second), ""},
		"of no tick":          {id + " ", time.Time{}, ""},
		"a stranger's":        {"x\x00 2026-11-20T23:14:28.005Z", tick, ""},
		"too long":            {strings.Repeat("1", 65) + " 2026-11-20T23:14:28.005Z", tick, ""},
		"without an id":       {" 2026-11-20T23:14:28.005Z", tick, ""},
		"with more behind":    {id + " 2026-11-20T23:14:28.005Z x", tick, ""},
		"an id and nothing":   {id, tick, ""},
		"nothing, not a tick": {"", tick, ""},
	} {
		item := jobtree.Read(tree(map[string]string{"settle/sharding/0/original": tc.value}), "settle").Item(0)
		if got := item.Original.Of(tc.tick); got != tc.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if (*jobtree.Original)(nil).Of(tick) != "" {
		t.Error("no node")
	}
}

func TestRequestOriginals(t *testing.T) {
	many := make([]int, 1001)
	for i := range many {
		many[i] = i
	}
	for name, tc := range map[string]struct {
		items     []int
		originals []string
		want      map[int]string
	}{
		"each":             {[]int{3, 7}, []string{"a-1", "b-2"}, map[int]string{3: "a-1", 7: "b-2", 5: ""}},
		"one":              {[]int{3}, []string{"a-1"}, map[int]string{3: "a-1"}},
		"some":             {[]int{3, 7}, []string{"", "b-2"}, map[int]string{3: "", 7: "b-2"}},
		"none":             {[]int{3, 7}, []string{"", ""}, map[int]string{3: ""}},
		"for other items":  {[]int{3, 7}, []string{"a-1"}, map[int]string{3: "", 7: ""}},
		"what is no id":    {[]int{3}, []string{"a 1"}, map[int]string{3: ""}},
		"of too many":      {many, make([]string, len(many)), map[int]string{0: ""}},
		"of none is asked": {[]int{3}, nil, map[int]string{3: ""}},
	} {
		if len(tc.items) > 1000 {
			for i := range tc.originals {
				tc.originals[i] = "a-1"
			}
		}
		value, err := jobtree.EncodeRequest(jobtree.RequestDocument{Items: tc.items, Originals: tc.originals, Source: "RETRY"})
		if err != nil {
			t.Fatal(err)
		}
		r := jobtree.Read(tree(map[string]string{"settle/requests/1": string(value)}), "settle").Request("1")
		if r == nil || r.Err != nil {
			t.Fatalf("%s: %+v", name, r)
		}
		for item, want := range tc.want {
			if got := r.OriginalOf(item); got != want {
				t.Errorf("%s: item %d: %q", name, item, got)
			}
		}
	}
}

// The state follows the node.
func TestFollowOriginal(t *testing.T) {
	const path = "settle/sharding/0/original"
	without := tree(map[string]string{"settle/config": "", "settle/sharding/0/instance": "a"})
	with := tree(map[string]string{"settle/config": "", "settle/sharding/0/instance": "a", path: "x"})
	s := jobtree.Read(without, "settle")
	if c := s.Follow(with, without, "settle"); s.Item(0).Original == nil || c.Others || c.Owners {
		t.Errorf("%+v, %+v", s.Item(0), c)
	}
	if s.Follow(without, with, "settle"); s.Item(0).Original != nil {
		t.Error("it is there still")
	}
}

func BenchmarkTaskID(b *testing.B) {
	at := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		_ = jobtree.TaskID("settle", 7, "10.0.0.1@-@12345-abcdefabcdef", 123456789, at)
	}
}
