package jobtree

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Request is the node of a request to run items beside the schedule. Each item of it has a
// progress. Requests wait for an item in the order of their ids.
type Request struct {
	coord.Node
	// ID is the name of the node; see [NewRequestID].
	ID string
	RequestDocument
	// Err says why the document could not be read; it is zero then.
	Err error

	progress []*Progress // of Items, in their order; nil if none has begun
}

// Progress says how far an item has come; nil if it has not begun, or the request is not for
// it.
func (r *Request) Progress(item int) *Progress {
	if r.progress == nil {
		return nil
	}
	at, has := slices.BinarySearch(r.Items, item)
	if !has {
		return nil
	}
	return r.progress[at]
}

// setProgress notes how far an item has come. It reports whether the request is for it.
func (r *Request) setProgress(item int, p *Progress) bool {
	at, has := slices.BinarySearch(r.Items, item)
	if !has {
		return false
	}
	if r.progress == nil {
		r.progress = make([]*Progress, len(r.Items))
	}
	r.progress[at] = p
	return true
}

// RequestDocument is the value of a request's node.
type RequestDocument struct {
	// Items are the items to run, ascending.
	Items []int `doc:"items"`
	// Parameter replaces the job parameter in these runs, unless it is empty.
	Parameter string `doc:"parameter"`
	// Source says why the items run: MANUAL, RETRY or BACKFILL.
	Source string `doc:"source,64"`
	// Ticks are what they run for, one after the other. None stands for the time at which an
	// item begins.
	Ticks []time.Time `doc:"ticks"`
	// Originals are the task ids of the executions that a retry repeats, one for each of Items, or
	// empty. There are none if the items are many.
	Originals []string `doc:"originals"`
	// Halts is whether an item leaves the other ticks out when one has failed.
	Halts bool `doc:"halts"`
	// By is who asked for it, and At when.
	By string    `doc:"by,255"`
	At time.Time `doc:"at"`
	// Kept is whether somebody wants to know the outcomes: then the request stays for a while
	// after its end.
	Kept bool `doc:"kept"`
	// Ended is when all of its items were through; zero before that.
	Ended time.Time `doc:"ended"`
}

// OriginalOf returns the task id of the execution that is repeated by that of an item; empty if
// the document does not tell.
func (d *RequestDocument) OriginalOf(item int) string {
	at, has := slices.BinarySearch(d.Items, item)
	if !has || at >= len(d.Originals) || !isTaskID(d.Originals[at]) {
		return ""
	}
	return d.Originals[at]
}

// Runs is how many runs the request asks for of each item.
func (d *RequestDocument) Runs() int { return max(len(d.Ticks), 1) }

// Has reports whether the request is for an item.
func (d *RequestDocument) Has(item int) bool {
	_, has := slices.BinarySearch(d.Items, item)
	return has
}

// IsThrough reports whether an item has nothing left to do for the request.
func (r *Request) IsThrough(item int) bool {
	return r.Err != nil || !r.Ended.IsZero() || r.Progress(item).isThrough()
}

// IsThroughAt is [Request.IsThrough] for the nth of Items.
func (r *Request) IsThroughAt(n int) bool {
	return r.Err != nil || !r.Ended.IsZero() || r.progress != nil && r.progress[n].isThrough()
}

// IsOver reports whether all of Items are through. The leader notes that in Ended a moment later.
func (r *Request) IsOver() bool {
	for n := range r.Items {
		if !r.IsThroughAt(n) {
			return false
		}
	}
	return true
}

// RunsAt reports whether, by the tree, the nth of Items runs for the request, or is to run again.
func (r *Request) RunsAt(n int) bool {
	return r.progress != nil && r.progress[n] != nil && r.progress[n].Runner != ""
}

// HasRunner reports whether, by the tree, one of Items runs for the request, or is to run again.
func (r *Request) HasRunner() bool {
	return slices.ContainsFunc(r.progress, func(p *Progress) bool { return p != nil && p.Runner != "" })
}

// Progress is the node that says how far an item has come with a request.
type Progress struct {
	coord.Node
	ProgressDocument
	// Err says why the document could not be read. Then the item counts as through, because
	// nobody knows what has been done.
	Err error
}

func (p *Progress) isThrough() bool { return p != nil && (p.Err != nil || p.Outcome != "") }

// ProgressDocument is the value of a progress' node.
type ProgressDocument struct {
	// Runner is the instance that runs the item for the request; empty if none does.
	Runner string `doc:"runner,400"`
	// Done is how many runs have ended, and Failed how many of them without success.
	Done   int `doc:"done"`
	Failed int `doc:"failed"`
	// Outcome is that of the whole; empty until the item is through.
	Outcome Outcome `doc:"out,64"`
	// The others are of the run that ended last.
	TaskID string    `doc:"task,64"`
	Token  int64     `doc:"token"`
	Ended  time.Time `doc:"end"`
	Error  string    `doc:"err,256"`
}

// OutcomeSkipped is that of an item that was not run for a request: it is disabled or gone.
const OutcomeSkipped Outcome = "SKIPPED"

// Bounds of requests.
const (
	MaxRequestTicks     = 1000      // runs of one item for one request
	MaxRequestParameter = 64 << 10  // bytes
	maxRequest          = 512 << 10 // bytes of the document
	maxOriginals        = 1000      // items of a request
)

// NewRequestID returns the id of the nth request of a job. unique keeps it apart from the
// request of that number of a job that was removed.
func NewRequestID(n int64, unique string) string { return fmt.Sprintf("%012d-%s", n, unique) }

// EncodeRequestCount writes the value of the parent of requests: how many there have been.
func EncodeRequestCount(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// NextRequest returns the number of the next request. A count that cannot be read, or that
// somebody has set back, does not bring an id back.
func (s *State) NextRequest() int64 {
	var n int64
	if s.RequestCount != nil {
		n, _ = strconv.ParseInt(string(s.RequestCount.Value), 10, 64) // 0 if it cannot be read
	}
	if last := len(s.Requests) - 1; last >= 0 {
		number, _, _ := strings.Cut(s.Requests[last].ID, "-")
		if seen, err := strconv.ParseInt(number, 10, 64); err == nil {
			n = max(n, seen)
		}
	}
	return max(n, 0) + 1
}

var errNoItems = errors.New("items: none are named")

var requestCodec = newCodec("request", maxRequest, func(d *RequestDocument) error {
	if len(d.Originals) != len(d.Items) || len(d.Originals) > maxOriginals {
		d.Originals = nil // it is not known what they were
	}
	switch {
	case len(d.Items) == 0:
		return errNoItems
	case len(d.Parameter) > MaxRequestParameter: // it is not cut
		return fmt.Errorf("parameter: %w", errSize(len(d.Parameter), MaxRequestParameter))
	case len(d.Ticks) > MaxRequestTicks:
		return fmt.Errorf("ticks: %d, at most %d are allowed", len(d.Ticks), MaxRequestTicks)
	}
	return nil
})

// EncodeRequest writes the value of a request's node.
func EncodeRequest(d RequestDocument) ([]byte, error) {
	if !utf8.ValidString(d.Parameter) {
		return nil, errors.New("request: parameter: UTF-8 is allowed")
	}
	isOriginal := func(id string) bool { return id != "" }
	if len(d.Originals) != len(d.Items) || len(d.Items) > maxOriginals || !slices.ContainsFunc(d.Originals, isOriginal) {
		d.Originals = nil
	}
	return requestCodec.encodeBounded(d)
}

func decodeRequest(id string, n coord.Node) *Request {
	r := &Request{Node: n, ID: id}
	r.RequestDocument, r.Err = requestCodec.decode(n.Value)
	return r
}

// formatItems writes ascending items: "0-99,105".
func formatItems(items []int) string {
	var b []byte
	for from := 0; from < len(items); {
		to := from
		for to+1 < len(items) && items[to+1] == items[to]+1 {
			to++
		}
		if from > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(items[from]), 10)
		if to > from {
			b = strconv.AppendInt(append(b, '-'), int64(items[to]), 10)
		}
		from = to + 1
	}
	return string(b)
}

// parseItems reads what formatItems writes.
func parseItems(text string) ([]int, error) {
	var items []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, ok := ParseItem(first)
		to := from
		if isRange && ok {
			to, ok = ParseItem(last)
		}
		if !ok || to < from || len(items) > 0 && from <= items[len(items)-1] {
			return nil, fmt.Errorf("%s: ascending items below %d are allowed, such as 0-3,7", brief.Quote(part), MaxItems)
		}
		for i := from; i <= to; i++ {
			items = append(items, i)
		}
	}
	return items, nil
}

var progresses = newCodec("progress", 4<<10, func(d *ProgressDocument) error {
	if d.Done < 0 || d.Failed < 0 || d.Token < 0 {
		return errors.New("done, failed and token: integers that are not negative are allowed")
	}
	d.Done, d.Failed = min(d.Done, MaxRequestTicks), min(d.Failed, MaxRequestTicks)
	return nil
})

// EncodeProgress writes the value of a progress' node. It cuts long texts.
func EncodeProgress(d ProgressDocument) []byte { return progresses.encode(d) }

func decodeProgress(n coord.Node) *Progress {
	p := &Progress{Node: n}
	p.ProgressDocument, p.Err = progresses.decode(n.Value)
	return p
}
