package jobtree_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/jobtree"
)

const aRequest = "000000000001-r"

func readRequest(value string) *jobtree.Request {
	return jobtree.Read(tree(map[string]string{"settle/requests": "1", "settle/requests/" + aRequest: value}), "settle").Request(aRequest)
}

func TestRequestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := jobtree.RequestDocument{
			Items:     rapid.SliceOfNDistinct(rapid.IntRange(0, jobtree.MaxItems-1), 1, 50, rapid.ID).Draw(t, "items"),
			Parameter: rapid.String().Draw(t, "parameter"),
			Source:    rapid.SampledFrom([]string{"MANUAL", "RETRY", "BACKFILL", ""}).Draw(t, "source"),
			Ticks:     rapid.SliceOfN(moments(), 0, 10).Draw(t, "ticks"),
			Halts:     rapid.Bool().Draw(t, "halts"),
			By:        rapid.StringN(-1, -1, 255).Draw(t, "by"),
			At:        moments().Draw(t, "at"),
			Kept:      rapid.Bool().Draw(t, "kept"),
			Ended:     moments().Draw(t, "ended"),
		}
		slices.Sort(want.Items)
		value, err := jobtree.EncodeRequest(want)
		if err != nil {
			t.Fatal(err)
		}
		got := readRequest(string(value))
		if got.Err != nil || !cmp.Equal(got.RequestDocument, want, cmpopts.EquateEmpty()) {
			t.Fatalf("%q gives %+v, %v", value, got.RequestDocument, got.Err)
		}
	})
}

// A name that is no UTF-8 does not keep a request from being written; a parameter that is none is
// refused, because the handler would get another one.
func TestRequestOfOtherBytes(t *testing.T) {
	d := jobtree.RequestDocument{Items: []int{0}, Source: "MANUAL", By: "M\xfcller"}
	value, err := jobtree.EncodeRequest(d)
	if err != nil {
		t.Fatal(err)
	}
	if got := readRequest(string(value)); got.Err != nil || got.By != "M?ller" {
		t.Errorf("by %q, %v", got.By, got.Err)
	}
	d.Parameter = "\xfc"
	if _, err := jobtree.EncodeRequest(d); err == nil || !strings.Contains(err.Error(), "parameter") {
		t.Errorf("got %v", err)
	}
}

// Everything at its bound fits into one node, and can be read.
func TestLargestRequest(t *testing.T) {
	d := jobtree.RequestDocument{Items: make([]int, 0, jobtree.MaxItems/2), Parameter: strings.Repeat("x", jobtree.MaxRequestParameter), Source: "BACKFILL"}
	for n := range jobtree.MaxRequestTicks {
		d.Ticks = append(d.Ticks, time.Unix(int64(n), 0).UTC())
	}
	for i := 0; i < jobtree.MaxItems; i += 2 { // no ranges
		d.Items = append(d.Items, i)
	}
	value, err := jobtree.EncodeRequest(d)
	if err != nil {
		t.Fatal(err)
	}
	if got := readRequest(string(value)); got.Err != nil || !cmp.Equal(got.RequestDocument, d) {
		t.Errorf("%d bytes: %v", len(value), got.Err)
	}
	d.Parameter = strings.Repeat("\x01", 500_000)
	if _, err := jobtree.EncodeRequest(d); err == nil {
		t.Error("a document that does not fit was written")
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	for name, value := range map[string]string{
		"empty": "", "no items": "source: MANUAL\n", "no number": "items: all\n", "descending": "items: 3,1\n", "twice": "items: 1,1\n",
		"overlapping": "items: 0-3,2\n", "backwards": "items: 3-1\n", "negative": "items: -1\n", "open": "items: 3-\n", "spaces": "items: 1, 2\n",
		"beyond": "items: 0-100000\n", "leading zero": "items: 01\n", "a list": "items: [1, 2]\n",
		"ticks that are no list": "items: 1\nticks: 2026-01-05T10:00:00Z\n", "a tick that is no time": "items: 1\nticks: [now]\n",
		"too many ticks":   "items: 1\nticks: [" + strings.Repeat("2026-01-05T10:00:00Z,", jobtree.MaxRequestTicks+1) + "]\n",
		"a long parameter": "items: 1\nparameter: " + strings.Repeat("x", jobtree.MaxRequestParameter+1),
		"a long source":    "items: 1\nsource: " + strings.Repeat("x", 100),
		"no time":          "items: 1\nat: now\n", "no end": "items: 1\nended: soon\n", "no YAML": "items: 1: 2", "binary": "\x00\xff",
	} {
		got := readRequest(value)
		if got == nil || got.Err == nil || !cmp.Equal(got.RequestDocument, jobtree.RequestDocument{}, cmpopts.EquateEmpty()) || !got.IsThrough(1) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func readProgress(value string) *jobtree.Progress {
	return jobtree.Read(tree(map[string]string{"settle/requests": "1", "settle/requests/" + aRequest: "items: 0,3", "settle/requests/" + aRequest + "/3": value}), "settle").Request(aRequest).Progress(3)
}

func TestProgressRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := jobtree.ProgressDocument{
			Runner:  rapid.StringN(-1, -1, 300).Draw(t, "runner"),
			Done:    rapid.IntRange(0, jobtree.MaxRequestTicks).Draw(t, "done"),
			Failed:  rapid.IntRange(0, jobtree.MaxRequestTicks).Draw(t, "failed"),
			Outcome: rapid.SampledFrom([]jobtree.Outcome{"", jobtree.OutcomeOK, jobtree.OutcomeCut, jobtree.OutcomeSkipped}).Draw(t, "outcome"),
			TaskID:  rapid.StringN(-1, -1, 64).Draw(t, "task"),
			Token:   rapid.Int64Min(0).Draw(t, "token"),
			Ended:   moments().Draw(t, "ended"),
			Error:   rapid.StringN(-1, -1, 256).Draw(t, "error"),
		}
		value := string(jobtree.EncodeProgress(want))
		got := readProgress(value)
		if got.Err != nil || !cmp.Equal(got.ProgressDocument, want) {
			t.Fatalf("%q gives %+v, %v", value, got.ProgressDocument, got.Err)
		}
	})
	long := strings.Repeat("ä\x01\xff", 50_000)
	value := jobtree.EncodeProgress(jobtree.ProgressDocument{Runner: long, Outcome: jobtree.Outcome(long), TaskID: long, Error: long})
	if got := readProgress(string(value)); got.Err != nil || len(value) > 4<<10 {
		t.Errorf("long texts give %d bytes, %v", len(value), got.Err)
	}
}

// Nobody knows what an item has done whose progress cannot be read, so it is through.
func TestProgressThatCannotBeRead(t *testing.T) {
	for name, value := range map[string]string{
		"text": "done", "negative": "done: -1\n", "no number": "done: all\n", "no token": "token: x\n", "list": "out: [OK]\n", "no time": "end: x\n",
		"long": "err: " + strings.Repeat("x", 5000), "binary": "\x00\xff", "no YAML": "done: 1: 2",
	} {
		nodes := map[string]string{"settle/requests/" + aRequest: "items: 0,3", "settle/requests/" + aRequest + "/3": value}
		r := jobtree.Read(tree(nodes), "settle").Request(aRequest)
		if p := r.Progress(3); p.Err == nil || p.ProgressDocument != (jobtree.ProgressDocument{}) || !r.IsThrough(3) || r.IsThrough(0) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := readProgress(""); p.Err != nil || p.ProgressDocument != (jobtree.ProgressDocument{}) {
		t.Errorf("an empty one: %+v", p)
	}
	if p := readProgress("done: 999999999\nfailed: 5000\n"); p.Err != nil || p.Done != jobtree.MaxRequestTicks || p.Failed != jobtree.MaxRequestTicks {
		t.Errorf("one that is too large: %+v", p)
	}
}

// Requests have an order, and no number comes twice, whatever stands in the count.
func TestNextRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes map[string]string
		want  int64
	}{
		"none":              {nil, 1},
		"counted":           {map[string]string{"settle/requests": "41"}, 42},
		"set back":          {map[string]string{"settle/requests": "3", "settle/requests/000000000041-x": "items: 0"}, 42},
		"not a number":      {map[string]string{"settle/requests": "many", "settle/requests/000000000041-x": "items: 0"}, 42},
		"negative":          {map[string]string{"settle/requests": "-7"}, 1},
		"a stranger's name": {map[string]string{"settle/requests": "41", "settle/requests/x": "items: 0"}, 42},
	} {
		if got := jobtree.Read(tree(tc.nodes), "settle").NextRequest(); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
	last := ""
	for _, n := range []int64{1, 2, 9, 10, 99, 1000, 1_000_000} {
		id := jobtree.NewRequestID(n, "x")
		if id <= last || coord.ValidatePath(jobtree.Job("settle").Request(id)) != nil {
			t.Errorf("%s after %s", id, last)
		}
		last = id
	}
}

// Nodes of external writers below requests are no requests, and no progress of another.
func TestForeignNodesBelowRequests(t *testing.T) {
	s := jobtree.Read(tree(map[string]string{
		"settle/requests":                      "1",
		"settle/requests/" + aRequest:          "items: 0,3",
		"settle/requests/a-b/3":                "done: 1", // its parent is not there
		"settle/requestsX":                     "items: 1",
		"settle/requests/" + aRequest + "/1":   "done: 1", // the request is not for it
		"settle/requests/" + aRequest + "/03":  "done: 1",
		"settle/requests/" + aRequest + "/3/x": "done: 1",
	}), "settle")
	if len(s.Requests) != 1 || s.Requests[0].Progress(3) != nil || s.Requests[0].Progress(1) != nil || s.Requests[0].Progress(-1) != nil || fmt.Sprint(s.Requests[0].Items) != "[0 3]" {
		t.Errorf("%+v", s.Requests)
	}
}

// Whoever looks at a progress has to recognize its runner.
func TestRunnerWithALongAddress(t *testing.T) {
	runner := jobtree.InstanceID(strings.Repeat("x", 255), 1<<22, "0123456789ab")
	if got := readProgress(string(jobtree.EncodeProgress(jobtree.ProgressDocument{Runner: runner}))); got.Runner != runner {
		t.Errorf("got %q", got.Runner)
	}
}
