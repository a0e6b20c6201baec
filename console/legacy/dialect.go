package legacy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/elasticjob-go/elasticjob/console/access"
	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// dialect is whose answer a request gets.
type dialect int

const (
	// console is that of elastic-job-lite-console 2.1.5.
	console dialect = iota + 1
	// ui is that of shardingsphere-elasticjob-ui 3.0.x: JSON in an envelope.
	ui
	// uiStatus is ui for who has not sent an Access-Token: with the status of what went wrong.
	uiStatus
)

func dialectOf(r *http.Request, o operation) dialect {
	switch {
	case r.Header.Get("Access-Token") != "":
		return ui
	case o.later:
		return uiStatus
	default:
		return console
	}
}

// What an operation returns that has nothing to tell.
type (
	done struct{} // 2.1.5: no content; 3.x: true
	gone struct{} // 2.1.5: no content; 3.x: null
	// bare is a value that is not in an envelope even in 3.x.
	bare struct{ value any }
)

// envelope is the answer of 3.x.
type envelope struct {
	Success   bool    `json:"success"`
	ErrorCode int     `json:"errorCode"`
	ErrorMsg  *string `json:"errorMsg"`
	Model     any     `json:"model"`
}

// answer answers with a model, which is done, gone, bare, or what has the answer's JSON.
func (a *api) answer(w http.ResponseWriter, r *http.Request, d dialect, model any) {
	if p := access.From(r.Context()); p != nil {
		w.Header()["identify"] = []string{identify(p)} // in small letters, for scripts that look for it
	}
	var err error
	switch m := model.(type) {
	case done:
		if d == console {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		err = d.write(w, http.StatusOK, envelope{Success: true, Model: true})
	case gone:
		if d == console {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		err = d.write(w, http.StatusOK, envelope{Success: true})
	case bare:
		err = d.write(w, http.StatusOK, m.value)
	default:
		if d != console {
			model = envelope{Success: true, Model: m}
		}
		err = d.write(w, http.StatusOK, model)
	}
	if err != nil {
		a.Slog.Debug("console: an answer was not taken", "path", r.URL.Path, "error", err)
	}
}

// identify is what 2.1.5 calls who has logged in: its pages hide buttons from a guest.
func identify(p *access.Principal) string {
	if p.MayEverywhere(access.Admin) {
		return "root"
	}
	return "guest"
}

// fail answers with an error.
func (a *api) fail(w http.ResponseWriter, r *http.Request, d dialect, err error) {
	status := statusOf(err)
	text := oneLine(err)
	if status == http.StatusInternalServerError {
		a.Slog.Error("console: a request has failed", "method", r.Method, "path", brief.Text(r.URL.Path), "error", text)
	}
	if status == http.StatusUnauthorized && d == console { // with an envelope it would open a window in browsers
		w.Header().Set("WWW-Authenticate", `Basic realm="elasticjob"`)
	}
	if limited, ok := errors.AsType[*access.LimitError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(limited.After.Seconds()))))
	}
	if d == console {
		http.Error(w, text, status)
		return
	}
	code := codeOf(status)
	if d == ui {
		status = http.StatusOK
	}
	if err := d.write(w, status, envelope{ErrorCode: code, ErrorMsg: &text}); err != nil {
		a.Slog.Debug("console: an answer was not taken", "path", r.URL.Path, "error", err)
	}
}

// codeOf returns the errorCode of 3.x for a status.
func codeOf(status int) int {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return http.StatusForbidden
	case status < http.StatusInternalServerError:
		return http.StatusBadRequest
	default:
		return http.StatusInternalServerError
	}
}

// maxError bounds the text of an error.
const maxError = 1000

// oneLine returns the text of an error without line breaks and other control characters.
func oneLine(err error) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, err.Error())
	return brief.Cut(clean, maxError)
}

// write writes a model as JSON.
func (d dialect) write(w http.ResponseWriter, status int, model any) error {
	text, err := d.marshal(model)
	if err != nil {
		return err
	}
	contentType := "application/json"
	if d != console {
		contentType += ";charset=UTF-8"
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, err = w.Write(text)
	return err
}

// marshal writes JSON as Gson 2.6.1 does, which escapes =, ', <, > and &, or as Jackson does.
func (d dialect) marshal(model any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(d == console)
	if err := e.Encode(model); err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if d == console {
		// Both stand within texts only.
		text = bytes.ReplaceAll(text, []byte("="), []byte(`\u003d`))
		text = bytes.ReplaceAll(text, []byte("'"), []byte(`\u0027`))
	}
	return text, nil
}
