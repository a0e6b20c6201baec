package api

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/elasticjob-go/elasticjob/trace/history"
)

// ExecutionsFileInput says which executions are wanted.
type ExecutionsFileInput struct {
	InNamespace
	InExecutions
	Limit int `query:"limit" minimum:"1" maximum:"100000" default:"100000" doc:"How many executions at most: the newest ones."`
}

// fileTime is how long it may take to write a file. So long a client that reads slowly may stay.
const fileTime = 10 * time.Minute

// fileAnswer is an answer that is written bit by bit.
type fileAnswer struct{ Body func(huma.Context) }

// file adds to an operation that its answer is a file.
func file(op huma.Operation, contentType string) huma.Operation {
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The file.",
		Content:     map[string]*huma.MediaType{contentType: {Schema: &huma.Schema{Type: huma.TypeString}}},
		Headers:     map[string]*huma.Param{"Content-Disposition": {Description: "That it is to be kept, and under which name.", Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	return op
}

func (a *API) executionsFile(ctx context.Context, in *ExecutionsFileInput) (*fileAnswer, error) {
	reader, err := a.past(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	f := in.filter()
	f.Limit = min(in.Limit, history.MaxLimit)
	first, err := reader.Executions(ctx, f)
	if err != nil {
		return nil, err
	}
	name := "executions-" + cmp.Or(in.Job, in.Namespace) + ".csv"
	return &fileAnswer{func(answer huma.Context) {
		answer.SetHeader("Content-Type", "text/csv; charset=utf-8")
		answer.SetHeader("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		ctx, cancel := context.WithTimeout(ctx, fileTime)
		defer cancel()
		next := func(after history.Cursor, left int) (history.Page[history.Execution], error) {
			f.After, f.Limit = after, min(left, history.MaxLimit)
			return reader.Executions(ctx, f)
		}
		if err := writeExecutions(answer.BodyWriter(), first, in.Limit, next); err != nil {
			panic(http.ErrAbortHandler) // the connection is cut: nobody takes a part for the whole
		}
	}}, nil
}

// writeExecutions writes a page of executions, and those that follow, up to a limit.
func writeExecutions(to io.Writer, page history.Page[history.Execution], limit int, next func(history.Cursor, int) (history.Page[history.Execution], error)) error {
	w := csv.NewWriter(bufio.NewWriterSize(to, 64<<10)) // what comes first says whether the answer is compressed
	w.UseCRLF = true
	if err := w.Write(executionCells); err != nil {
		return err
	}
	for {
		for _, x := range page.Rows {
			if err := w.Write(cellsOf(executionOf(x))); err != nil {
				return err
			}
		}
		if limit -= len(page.Rows); limit <= 0 || page.Next == "" {
			break
		}
		var err error
		if page, err = next(page.Next, limit); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// executionCells are the names of what cellsOf returns: those that the fields have in JSON.
var executionCells = []string{
	"id", "taskId", "job", "item", "source", "outcome", "tick", "begun", "ended", "waitedSeconds", "durationSeconds",
	"attempts", "instance", "hostname", "address", "token", "request", "original", "error",
}

func cellsOf(x ExecutionInfo) []string {
	seconds := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(time.RFC3339Nano)
	}
	number := func(n int64) string {
		if n == 0 {
			return "" // it is not known
		}
		return strconv.FormatInt(n, 10)
	}
	duration := ""
	if !x.Ended.IsZero() {
		duration = seconds(x.Duration)
	}
	return []string{
		cell(x.ID), cell(x.TaskID), cell(x.Job), strconv.Itoa(x.Item), cell(x.Source), cell(string(x.Outcome)),
		at(x.Tick), at(x.Begun), at(x.Ended), seconds(x.Waited), duration,
		number(int64(x.Attempts)), cell(x.Instance), cell(x.Hostname), cell(x.Address), number(x.Token), cell(x.Request), cell(x.Original), cell(x.Error),
	}
}

// cell returns a text that a spreadsheet does not take for a formula.
func cell(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + text
	}
	return text
}
