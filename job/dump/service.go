package dump

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/coord"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/trace"
)

// Options are those of a [Service]. All may be left out.
type Options struct {
	// Token, if it is set, is asked of every client: 16 to 200 letters, digits, '-', '_', '.', '~',
	// '+', '/' and '='.
	Token string
	// Shows says which jobs are shown; nil is all. Those of the program's own Commands are not
	// asked for.
	Shows func(job string) bool
	// Log has the newest lines of runs; nil is none.
	Log Log
	// Commands are the program's own, by name: a letter, and 39 letters, digits, '-' and '_' more.
	Commands map[string]Command
	// Slog is told of what goes wrong here. Default: nobody is.
	Slog *slog.Logger
}

// Log has the newest lines that handlers have written. A [trace.Newest] is one.
type Log interface {
	// Lines returns the lines of an execution of an item that have a larger number than after, in
	// order. Without a task id it is the execution that has begun last.
	Lines(job string, item int, taskID string, after int) []trace.Line
}

// Command is a command of the program. It writes its answer to w, up to 16 MiB: beyond that,
// writing fails. ctx ends after a minute, or when the service ends; over HTTP also when the client
// has gone. A command has to return then: the service waits for it. It may be called several times
// at once. One that panics has failed.
type Command func(ctx context.Context, args string, w io.Writer) error

// Bounds of the service. The package comment tells them.
const (
	maxConnections = 64
	maxAnswers     = 8        // that are made or written at a time
	maxLine        = 4096     // bytes of a line
	maxTail        = 1 << 20  // bytes that are read behind it
	maxArgs        = 64 << 10 // bytes of the arguments of a command over HTTP
	maxOutput      = 16 << 20 // bytes of the answer of a command
	maxLines       = 1000     // lines of a log in an answer
)

// dumpName is the command of ElasticJob.
const dumpName = "dump"

// Bounds of how long things may take.
const (
	askTime     = 5 * time.Second  // until a client has sent its line
	workTime    = time.Minute      // until the answer is found
	answerTime  = 20 * time.Second // until the client has read it
	partingTime = time.Second      // until the client has closed the connection after that
)

// Service answers questions about the jobs of a process, over ElasticJob's line and over HTTP; see
// the package comment. Its methods may be called from any goroutine.
type Service struct {
	reg     coord.Registry
	process Process
	options Options
	token   [sha256.Size]byte
	answers chan struct{} // has an element for each answer that is made or written
	dumping chan struct{} // has an element while a dump is taken: the store is asked by one at a time
}

var (
	commandName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)
	tokenForm   = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]{16,200}$`)
)

// New returns a service that serves nobody yet: see [Service.ServeLines] and
// [Service.Handler]. It closes neither the registry nor the jobs.
func New(reg coord.Registry, p Process, o Options) (*Service, error) {
	if reg == nil || p == nil {
		return nil, errors.New("dump: a registry and a process are needed")
	}
	if o.Token != "" && !tokenForm.MatchString(o.Token) {
		return nil, fmt.Errorf("dump: token of %d bytes: 16 to 200 letters, digits and -._~+/= are allowed", len(o.Token))
	}
	for name, command := range o.Commands {
		if !commandName.MatchString(name) || name == dumpName {
			return nil, fmt.Errorf("dump: command %s: a letter and up to 39 letters, digits, - and _ are allowed, and not %q", brief.Quote(name), dumpName)
		}
		if command == nil {
			return nil, fmt.Errorf("dump: command %q: nil", name)
		}
	}
	if o.Shows == nil {
		o.Shows = func(string) bool { return true }
	}
	if o.Slog == nil {
		o.Slog = slog.New(slog.DiscardHandler)
	}
	return &Service{
		reg: reg, process: p, options: o, token: sha256.Sum256([]byte(o.Token)),
		answers: make(chan struct{}, maxAnswers), dumping: make(chan struct{}, 1),
	}, nil
}

// admits reports whether a token is the right one. It takes the same time for any.
func (s *Service) admits(token string) bool {
	given := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(given[:], s.token[:]) == 1
}

// enter takes a place in a queue, until leave is called.
func enter(ctx context.Context, queue chan struct{}) (leave func(), err error) {
	select {
	case queue <- struct{}{}:
		return func() { <-queue }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrBusy, context.Cause(ctx))
	}
}

// dump takes a dump, one at a time. It has no secrets: whoever reaches the port may ask.
func (s *Service) dump(ctx context.Context, name string, masked bool) (Dump, error) {
	if !s.options.Shows(name) {
		return Dump{}, fmt.Errorf("dump: job %s: %w", brief.Quote(name), ErrNoJob)
	}
	leave, err := enter(ctx, s.dumping)
	if err != nil {
		return Dump{}, err
	}
	defer leave()
	d, err := Take(ctx, s.reg, s.process, name)
	if err != nil {
		return Dump{}, err
	}
	if d = d.WithoutSecrets(); masked {
		d = d.Masked()
	}
	return d, nil
}

var (
	errTooLong   = errors.New("the answer takes too long")
	errTooMuch   = fmt.Errorf("dump: the answer of a command has more than %d bytes", maxOutput)
	errNoCommand = errors.New("dump: no such command")
)

// output holds the answer of a command.
type output struct{ bytes.Buffer }

func (o *output) Write(p []byte) (int, error) {
	if o.Len()+len(p) > maxOutput {
		return 0, errTooMuch
	}
	return o.Buffer.Write(p)
}

// run runs a command of the program.
func (s *Service) run(ctx context.Context, name, args string) (answer []byte, err error) {
	command, ok := s.options.Commands[name]
	if !ok {
		return nil, fmt.Errorf("%w %s", errNoCommand, brief.Quote(name))
	}
	var to output
	if err := command(ctx, args, &to); err != nil {
		return to.Bytes(), fmt.Errorf("dump: command %s: %w", name, err)
	}
	return to.Bytes(), nil
}

// guarded answers what is asked, and takes a panic of what the program has given us for an error.
func (s *Service) guarded(asked string, answer func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			what := brief.Text(fmt.Sprint(v))
			s.options.Slog.Error("what was asked has panicked", slog.String("asked", brief.Text(asked)), slog.String("panic", what), slog.String("stack", brief.Cut(string(debug.Stack()), maxLine)))
			err = fmt.Errorf("dump: panic: %s", what)
		}
	}()
	return answer()
}

// complaint is an error in one line.
func complaint(err error) string {
	return "error: " + strings.Join(strings.Fields(brief.Error(err).Error()), " ") + "\n"
}
