package dump

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/bounded"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/trace"
)

// Handler answers over HTTP: see the package comment. A server of one's own needs time-outs.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]answerer{
		"GET /jobs":            s.getJobs,
		"GET /jobs/{job}":      s.getJob,
		"GET /dump":            s.getDumps,
		"GET /dump/{job}":      s.getDump,
		"GET /log/{job}":       s.getLog,
		"POST /command/{name}": s.postCommand,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, answer) })
	}
	// Pages of others, which a browser shows, must not have it run commands.
	return http.NewCrossOriginProtection().Handler(mux)
}

// page is an answer: a document for JSON, or a text.
type page struct {
	document any
	text     []byte
}

// answerer answers a request of a client that may ask.
type answerer func(ctx context.Context, r *http.Request) (page, error)

// serve answers a request, if the client may ask.
func (s *Service) serve(w http.ResponseWriter, r *http.Request, answer answerer) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if s.options.Token != "" && !s.admits(token) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, ErrDenied)
		return
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), workTime, errTooLong)
	defer cancel()
	leave, err := enter(ctx, s.answers)
	if err != nil {
		refuse(w, err)
		return
	}
	defer leave() // when the client has read the answer
	var p page
	err = s.guarded(r.URL.Path, func() (err error) {
		p, err = answer(ctx, r)
		return err
	})
	kind := "text/plain; charset=utf-8"
	if err == nil && p.document != nil {
		kind = "application/json; charset=utf-8"
		p.text, err = json.MarshalIndent(p.document, "", " ") // people read it, too
		p.text = append(p.text, '\n')
	}
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(p.text)))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime)) // where it cannot be set, the server's time-out counts
	_, _ = w.Write(p.text)                                                         // who reads it notices if it fails
}

// errQuery: something in the request is not as it should be.
var errQuery = errors.New("bad request")

// refuse answers with an error.
func refuse(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	switch {
	case errors.Is(err, ErrDenied):
		code = http.StatusUnauthorized
	case errors.Is(err, ErrNoJob), errors.Is(err, errNoCommand), errors.Is(err, errNoLog):
		code = http.StatusNotFound
	case errors.Is(err, errQuery):
		code = http.StatusBadRequest
	case errors.Is(err, ErrBusy), errors.Is(err, coord.ErrUnavailable):
		code = http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errTooLong):
		code = http.StatusGatewayTimeout
	}
	http.Error(w, strings.TrimSuffix(complaint(err), "\n"), code)
}

// names is a list of jobs.
type names struct {
	Jobs []string `json:"jobs"`
}

// getJobs lists the jobs that run here.
func (s *Service) getJobs(context.Context, *http.Request) (page, error) {
	list := names{Jobs: []string{}}
	for _, scheduler := range s.process.Jobs() {
		if s.options.Shows(scheduler.Name()) {
			list.Jobs = append(list.Jobs, scheduler.Name())
		}
	}
	return page{document: list}, nil
}

// getJob shows how a job stands here.
func (s *Service) getJob(_ context.Context, r *http.Request) (page, error) {
	name := r.PathValue("job")
	scheduler := s.process.Job(name)
	if scheduler == nil || !s.options.Shows(name) {
		return page{}, fmt.Errorf("dump: job %s does not run here: %w", brief.Quote(name), ErrNoJob)
	}
	return page{document: StatusOf(scheduler)}, nil
}

// getDumps lists the jobs of the namespace.
func (s *Service) getDumps(ctx context.Context, _ *http.Request) (page, error) {
	leave, err := enter(ctx, s.dumping)
	if err != nil {
		return page{}, err
	}
	defer leave()
	all, err := Jobs(ctx, s.reg)
	if err != nil {
		return page{}, err
	}
	list := names{Jobs: []string{}}
	for _, name := range all {
		if s.options.Shows(name) {
			list.Jobs = append(list.Jobs, name)
		}
	}
	return page{document: list}, nil
}

func (s *Service) getDump(ctx context.Context, r *http.Request) (page, error) {
	q := r.URL.Query()
	masked := true
	if text := q.Get("mask"); text != "" {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return page{}, fmt.Errorf("%w: mask=%s: true and false are allowed", errQuery, brief.Quote(text))
		}
		masked = on
	}
	format := q.Get("format")
	if format != "" && format != "json" && format != "text" {
		return page{}, fmt.Errorf("%w: format=%s: json and text are allowed", errQuery, brief.Quote(format))
	}
	d, err := s.dump(ctx, r.PathValue("job"), masked)
	if err != nil || format != "text" {
		return page{document: d}, err
	}
	var text bytes.Buffer
	err = d.WriteText(&text)
	return page{text: text.Bytes()}, err
}

// Line is a line that a handler has written.
type Line struct {
	TaskID   string     `json:"task"`
	Instance string     `json:"instance"`
	Item     int        `json:"item"`
	Number   int        `json:"number"` // counts the lines of an execution, from 1
	Time     time.Time  `json:"time"`
	Level    slog.Level `json:"level"`
	Text     string     `json:"text"`
}

type lines struct {
	Lines []Line `json:"lines"`
	// More says that there are more: ask again for those after the last one.
	More bool `json:"more"`
}

var errNoLog = errors.New("dump: this process keeps no lines of its runs")

func (s *Service) getLog(_ context.Context, r *http.Request) (page, error) {
	name, q := r.PathValue("job"), r.URL.Query()
	if s.options.Log == nil {
		return page{}, errNoLog
	}
	if !s.options.Shows(name) {
		return page{}, fmt.Errorf("dump: job %s: %w", brief.Quote(name), ErrNoJob)
	}
	item, err := number(q, "item")
	if err != nil {
		return page{}, err
	}
	after := 0
	if q.Has("after") {
		if after, err = number(q, "after"); err != nil {
			return page{}, err
		}
	}
	return page{document: linesOf(s.options.Log.Lines(name, item, q.Get("task"), after))}, nil
}

func number(q url.Values, key string) (int, error) {
	n, err := strconv.Atoi(q.Get(key))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: %s=%s: a number from 0 on is needed", errQuery, key, brief.Quote(q.Get(key)))
	}
	return n, nil
}

func linesOf(all []trace.Line) lines {
	list := lines{Lines: []Line{}, More: len(all) > maxLines}
	for _, l := range all[:min(len(all), maxLines)] {
		list.Lines = append(list.Lines, Line{l.TaskID, l.Instance, l.Item, l.Number, l.Time, l.Level, l.Text})
	}
	return list
}

// postCommand runs a command of the program. If it fails, its answer so far is lost.
func (s *Service) postCommand(ctx context.Context, r *http.Request) (page, error) {
	args, err := bounded.Read(r.Body, maxArgs)
	if err != nil {
		return page{}, fmt.Errorf("%w: the arguments: %w", errQuery, err)
	}
	text, err := s.run(ctx, r.PathValue("name"), string(args))
	return page{text: text}, err
}
