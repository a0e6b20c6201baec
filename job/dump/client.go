package dump

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Client asks the service of another process. Every call ends with its context. Without a
// deadline there, it ends after two minutes.
//
// Errors that every method may return: ErrDenied, ErrBusy; what the network says; an error with
// the text of the service's.
type Client struct {
	// Address is where the service listens: host:port.
	Address string
	// Token is that of the service's Options.
	Token string
	// HTTP is what requests are sent with. Default: a client that goes to Address directly, over
	// plain HTTP.
	HTTP *http.Client
}

const (
	// maxRead bounds an answer. The JSON of a dump has six bytes for one at most.
	maxRead = 8 * MaxBytes
	// patience is the longest that a service may take, and some time for the network.
	patience = 2 * time.Minute
)

// LogQuery says which lines are wanted.
type LogQuery struct {
	Item int
	// TaskID is that of an execution of the item; empty for the one that has begun last.
	TaskID string
	// After is the number of the last line that is known.
	After int
}

// Jobs lists the jobs that run in the process.
func (c Client) Jobs(ctx context.Context) ([]string, error) {
	var list names
	err := c.get(ctx, "/jobs", &list)
	return list.Jobs, err
}

// Status says how a job stands in the process. ErrNoJob if it does not run there.
func (c Client) Status(ctx context.Context, job string) (s Status, err error) {
	err = c.get(ctx, "/jobs/"+url.PathEscape(job), &s)
	return s, err
}

// Dump returns a dump of a job, which has no secrets, and is not masked: see [Dump.Masked]. ErrNoJob if there is no
// such job.
func (c Client) Dump(ctx context.Context, job string) (d Dump, err error) {
	err = c.get(ctx, "/dump/"+url.PathEscape(job)+"?mask=false", &d)
	return d, err
}

// Log returns the lines that an execution has written, the first 1,000 after those that are known.
// more says that there are others: ask again after the last one. If the process keeps no lines, that
// is an error; if it knows none of this execution, there are none.
func (c Client) Log(ctx context.Context, job string, q LogQuery) (list []Line, more bool, err error) {
	query := url.Values{"item": {strconv.Itoa(q.Item)}, "after": {strconv.Itoa(q.After)}}
	if q.TaskID != "" {
		query.Set("task", q.TaskID)
	}
	var all lines
	err = c.get(ctx, "/log/"+url.PathEscape(job)+"?"+query.Encode(), &all)
	return all.Lines, all.More, err
}

// Command runs a command of the program, and returns its answer.
func (c Client) Command(ctx context.Context, name, args string) (string, error) {
	text, err := c.ask(ctx, http.MethodPost, "/command/"+url.PathEscape(name), strings.NewReader(args))
	return string(text), err
}

// Text returns a dump as text, masked. It speaks ElasticJob's line, so it works with JVM processes
// of ElasticJob 3, too. These answer nothing if something is wrong.
func (c Client) Text(ctx context.Context, job string) (string, error) {
	wrap := func(err error) (string, error) {
		return "", fmt.Errorf("dump: %s: job %s: %w", c.Address, brief.Quote(job), err)
	}
	if strings.ContainsAny(job, "\r\n") {
		return wrap(ErrNoJob)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return wrap(ended(ctx, err))
	}
	defer func() { _ = conn.Close() }()                         // all was read
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // so that reading ends
	line := dumpName + "@" + job
	if c.Token != "" {
		line += "@" + c.Token
	}
	if _, err := io.WriteString(conn, line+"\n"); err != nil {
		return wrap(ended(ctx, err))
	}
	text, err := readAll(conn)
	switch complaint, failed := bytes.CutPrefix(text, []byte("error: ")); {
	case err != nil || ctx.Err() != nil:
		return wrap(ended(ctx, err))
	case failed && c.Token != "" && bytes.Contains(complaint, []byte(`"`+job+"@")):
		return wrap(fmt.Errorf("%w: the service wants no token", ErrNoJob)) // what it says has the token in it
	case failed:
		return wrap(remote(string(complaint)))
	}
	return string(text), nil
}

// ended returns why a call has ended. The network may notice the end of the context first, and call
// it by another name.
func ended(ctx context.Context, err error) error {
	deadline, _ := ctx.Deadline() // each call has one
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !time.Now().Before(deadline):
		return context.DeadlineExceeded
	}
	return err
}

func readAll(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxRead+1))
	if err == nil && len(text) > maxRead {
		err = fmt.Errorf("the answer has more than %d bytes", maxRead)
	}
	return text, err
}

// remote is an error that a service has told.
func remote(text string) error {
	text = brief.Cut(strings.TrimSpace(text), 1000)
	for _, known := range []error{ErrNoJob, ErrDenied, ErrBusy} {
		if strings.Contains(text, known.Error()) {
			return fmt.Errorf("%w (the service says: %s)", known, text)
		}
	}
	return fmt.Errorf("the service says: %s", text)
}

// get reads a document.
func (c Client) get(ctx context.Context, path string, to any) error {
	text, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("dump: %s%s: %w", c.Address, path, err)
	}
	return nil
}

// ask sends a request.
func (c Client) ask(ctx context.Context, method, path string, body io.Reader) ([]byte, error) {
	wrap := func(err error) ([]byte, error) { return nil, fmt.Errorf("dump: %s%s: %w", c.Address, path, err) }
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.Address+path, body)
	if err != nil {
		return wrap(err)
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	r.Close = true
	client := c.HTTP
	if client == nil {
		client = &http.Client{Transport: &http.Transport{}}
	}
	answer, err := client.Do(r)
	if err != nil {
		return wrap(ended(ctx, err))
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	text, err := readAll(answer.Body)
	switch {
	case err != nil:
		return wrap(ended(ctx, err))
	case answer.StatusCode != http.StatusOK:
		return wrap(remote(strings.TrimPrefix(string(text), "error: ")))
	}
	return text, nil
}
