package jobtree

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/internal/yamldoc"
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

// clone returns a copy that may be changed.
func (r *Request) clone() *Request {
	c := *r
	c.progress = slices.Clone(r.progress)
	return &c
}

// RequestDocument is the value of a request's node.
type RequestDocument struct {
	// Items are the items to run, ascending.
	Items []int
	// Parameter replaces the job parameter in these runs, unless it is empty.
	Parameter string
	// Source says why the items run: MANUAL, RETRY or BACKFILL.
	Source string
	// Ticks are what they run for, one after the other. None stands for the time at which an
	// item begins.
	Ticks []time.Time
	// Originals are the task ids of the executions that a retry repeats, one for each of Items, or
	// empty. There are none if the items are many.
	Originals []string
	// Halts is whether an item leaves the other ticks out when one has failed.
	Halts bool
	// By is who asked for it, and At when.
	By string
	At time.Time
	// Kept is whether somebody wants to know the outcomes: then the request stays for a while
	// after its end.
	Kept bool
	// Ended is when all of its items were through; zero before that.
	Ended time.Time
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
	Runner string
	// Done is how many runs have ended, and Failed how many of them without success.
	Done, Failed int
	// Outcome is that of the whole; empty until the item is through.
	Outcome Outcome
	// The others are of the run that ended last.
	TaskID string
	Token  int64
	Ended  time.Time
	Error  string
}

// OutcomeSkipped is that of an item that was not run for a request: it is disabled or gone.
const OutcomeSkipped Outcome = "SKIPPED"

// Bounds of requests.
const (
	MaxRequestTicks     = 1000      // runs of one item for one request
	MaxRequestParameter = 64 << 10  // bytes
	maxRequest          = 512 << 10 // bytes of the document
	maxOriginals        = 1000      // items of a request
	maxProgress         = 4 << 10   // bytes of the document
	maxRunner           = 400       // bytes; an instance's id is longer than its address, which may have 255
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

// EncodeRequest writes the value of a request's node.
func EncodeRequest(d RequestDocument) ([]byte, error) {
	if !utf8.ValidString(d.Parameter) {
		return nil, errors.New("parameter: UTF-8 is allowed")
	}
	ticks := make([]string, len(d.Ticks))
	for n, tick := range d.Ticks {
		ticks[n] = string(EncodeFired(tick))
	}
	originals := strings.Join(d.Originals, ",")
	if len(d.Originals) != len(d.Items) || len(d.Items) > maxOriginals || strings.Trim(originals, ",") == "" {
		originals = ""
	}
	document, err := yaml.Marshal(struct {
		Items     string   `yaml:"items"`
		Parameter quoted   `yaml:"parameter,omitempty"`
		Source    string   `yaml:"source"`
		Ticks     []string `yaml:"ticks,omitempty,flow"`
		Originals string   `yaml:"originals,omitempty"`
		Halts     bool     `yaml:"halts,omitempty"`
		By        quoted   `yaml:"by,omitempty"`
		At        string   `yaml:"at"`
		Kept      bool     `yaml:"kept,omitempty"`
		Ended     string   `yaml:"ended,omitempty"`
	}{
		formatItems(d.Items), quoted(d.Parameter), d.Source, ticks, originals, d.Halts, quoted(strings.ToValidUTF8(brief.Cut(d.By, maxWho), "?")),
		string(EncodeFired(d.At)), d.Kept, string(EncodeFired(d.Ended)),
	})
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	if len(document) > maxRequest {
		return nil, fmt.Errorf("request: %d bytes, at most %d are allowed", len(document), maxRequest)
	}
	return document, nil
}

func decodeRequest(id string, n coord.Node) *Request {
	r := &Request{Node: n, ID: id}
	if r.RequestDocument, r.Err = readRequest(n.Value); r.Err != nil {
		r.RequestDocument, r.Err = RequestDocument{}, fmt.Errorf("request: %w", r.Err)
	}
	return r
}

func readRequest(value []byte) (d RequestDocument, err error) {
	var items, originals, halts, kept, at, ended string
	document, err := readTexts(value, maxRequest, map[string]*string{
		"items": &items, "parameter": &d.Parameter, "source": &d.Source, "originals": &originals, "halts": &halts, "by": &d.By, "at": &at, "kept": &kept, "ended": &ended,
	})
	if err != nil {
		return d, err
	}
	if d.Items, err = parseItems(items); err != nil {
		return d, fmt.Errorf("items: %w", err)
	}
	switch {
	case len(d.Source) > maxName:
		return d, fmt.Errorf("source: %d bytes, at most %d are allowed", len(d.Source), maxName)
	case len(d.Parameter) > MaxRequestParameter:
		return d, fmt.Errorf("parameter: %d bytes, at most %d are allowed", len(d.Parameter), MaxRequestParameter)
	}
	if list := strings.Split(originals, ","); len(list) == len(d.Items) && originals != "" && len(list) <= maxOriginals {
		d.Originals = list // otherwise it is not known what they were
	}
	d.Halts, d.Kept, d.By = halts == "true", kept == "true", brief.Cut(d.By, maxWho)
	if d.At, err = parseTime(at); err != nil {
		return d, fmt.Errorf("at: %w", err)
	}
	if d.Ended, err = parseTime(ended); err != nil {
		return d, fmt.Errorf("ended: %w", err)
	}
	if d.Ticks, err = requestedTicks(document["ticks"]); err != nil {
		return d, fmt.Errorf("ticks: %w", err)
	}
	return d, nil
}

func requestedTicks(list *yaml.Node) ([]time.Time, error) {
	if yamldoc.IsNull(list) {
		return nil, nil
	}
	if list.Kind != yaml.SequenceNode || len(list.Content) > MaxRequestTicks {
		return nil, fmt.Errorf("a list of at most %d times is allowed", MaxRequestTicks)
	}
	var ticks []time.Time
	for _, n := range list.Content {
		text, err := yamldoc.Text(yamldoc.Resolve(n))
		if err != nil {
			return nil, err
		}
		tick, err := parseTime(text)
		if err != nil {
			return nil, err
		}
		ticks = append(ticks, tick)
	}
	return ticks, nil
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
	if text == "" {
		return nil, errors.New("none are named")
	}
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

// EncodeProgress writes the value of a progress' node. It cuts long texts.
func EncodeProgress(d ProgressDocument) []byte {
	b := make([]byte, 0, 128)
	b = appendText(b, "runner", d.Runner, maxRunner)
	number := func(key string, n int64) {
		if n != 0 {
			b = append(strconv.AppendInt(append(b, key...), n, 10), '\n')
		}
	}
	number("done: ", int64(d.Done))
	number("failed: ", int64(d.Failed))
	b = appendText(b, "out", string(d.Outcome), maxName)
	b = appendText(b, "task", d.TaskID, maxName)
	number("token: ", d.Token)
	b = appendTime(b, "end", d.Ended)
	return appendText(b, "err", d.Error, maxErrorText)
}

func decodeProgress(n coord.Node) *Progress {
	p := &Progress{Node: n}
	if p.ProgressDocument, p.Err = readProgress(n.Value); p.Err != nil {
		p.ProgressDocument, p.Err = ProgressDocument{}, fmt.Errorf("progress: %w", p.Err)
	}
	return p
}

func readProgress(value []byte) (d ProgressDocument, err error) {
	var done, failed, outcome, token, ended string
	if _, err := readTexts(value, maxProgress, map[string]*string{
		"runner": &d.Runner, "done": &done, "failed": &failed, "out": &outcome, "task": &d.TaskID, "token": &token, "end": &ended, "err": &d.Error,
	}); err != nil && !errors.Is(err, yamldoc.ErrEmpty) {
		return d, err
	}
	d.Outcome = Outcome(outcome)
	if d.Ended, err = parseTime(ended); err != nil {
		return d, fmt.Errorf("end: %w", err)
	}
	var numbers [3]int64
	for n, text := range []string{done, failed, token} {
		if text == "" {
			continue
		}
		if numbers[n], err = strconv.ParseInt(text, 10, 64); err != nil || numbers[n] < 0 {
			return d, fmt.Errorf("%s: an integer is allowed", brief.Quote(text))
		}
	}
	d.Done, d.Failed, d.Token = int(min(numbers[0], MaxRequestTicks)), int(min(numbers[1], MaxRequestTicks)), numbers[2]
	return d, nil
}
