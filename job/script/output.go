package script

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/job"
)

// What is kept of the output of a program, and for how long it waits for the log.
const (
	chunkSize = 32 << 10
	// maxLine bounds a line in the log. A longer one is logged in pieces.
	maxLine = 4 << 10
	// maxQueue is how many chunks of each stream wait for the log.
	maxQueue = 8
	// patience is how long a program waits for a log that takes nothing; and how long the log
	// may take for what is left when the program has ended.
	patience = time.Second
	// maxStderr bounds what is kept of standard error, to find its last lines.
	maxStderr = 2 << 10
)

// output takes what a program writes to the log, and keeps the end of it.
//
// Each stream has a goroutine that reads (read), and hands lines over to the one that logs
// (log). The latter may be slow: then the reader waits, so the program does. If nothing is
// logged for a while, lines are dropped, so that the program goes on.
type output struct {
	logger  *slog.Logger
	queue   chan chunk
	dropped atomic.Int64 // lines
	late    atomic.Bool  // what is not logged now, is dropped

	mu     sync.Mutex
	all    tail
	stderr tail
}

// stream is one of the two that a program writes to.
type stream struct {
	name  string
	level slog.Level
}

// chunk is some lines of a stream.
type chunk struct {
	stream stream
	text   []byte
}

func newOutput(ctx context.Context) *output {
	return &output{
		logger: job.Logger(ctx), queue: make(chan chunk, 2*maxQueue),
		all: tail{most: job.MaxOutput}, stderr: tail{most: maxStderr},
	}
}

// read reads a stream to its end.
func (o *output) read(r io.Reader, s stream) {
	logged := o.logger.Enabled(context.Background(), s.level)
	buffer := make([]byte, chunkSize)
	held, stuck := 0, false
	for {
		n, err := r.Read(buffer[held:])
		held += n
		if end := endOfLines(buffer[:held], err != nil || held == len(buffer)); end > 0 {
			o.keep(buffer[:end], s)
			if logged {
				stuck = o.hand(chunk{s, bytes.Clone(buffer[:end])}, stuck)
			}
			held = copy(buffer, buffer[end:held])
		}
		if err != nil {
			return
		}
	}
}

// endOfLines returns where the last line ends. If there is no end, and a part must do, it is
// the end of the last character.
func endOfLines(text []byte, part bool) int {
	if end := bytes.LastIndexByte(text, '\n') + 1; end > 0 || !part {
		return end
	}
	return endOfRunes(text)
}

// endOfRunes returns where the last whole character of a text ends.
func endOfRunes(text []byte) int {
	for start := len(text) - 1; start >= 0 && start > len(text)-utf8.UTFMax; start-- {
		if utf8.RuneStart(text[start]) {
			if !utf8.FullRune(text[start:]) && start > 0 {
				return start
			}
			break
		}
	}
	return len(text)
}

// keep keeps the end of the output.
func (o *output) keep(text []byte, s stream) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all.add(text)
	if s.level == slog.LevelWarn {
		o.stderr.add(text)
	}
}

// hand gives lines to the log. stuck is whether the log took nothing the last time, and
// still does not; then lines are dropped at once.
func (o *output) hand(c chunk, stuck bool) bool {
	select {
	case o.queue <- c:
		return false
	default:
	}
	if !stuck {
		wait := time.NewTimer(patience)
		defer wait.Stop()
		select {
		case o.queue <- c:
			return false
		case <-wait.C:
		}
	}
	o.dropped.Add(countLines(c.text))
	return true
}

func countLines(text []byte) int64 {
	n := int64(bytes.Count(text, []byte("\n")))
	if !bytes.HasSuffix(text, []byte("\n")) {
		n++
	}
	return n
}

// log logs lines until the queue is closed.
func (o *output) log(ctx context.Context) {
	for c := range o.queue {
		o.sayDropped(ctx)
		for line := range bytes.Lines(c.text) {
			if o.late.Load() {
				o.dropped.Add(1)
				continue
			}
			o.logLine(ctx, c.stream, line)
		}
	}
	o.sayDropped(ctx)
}

func (o *output) logLine(ctx context.Context, s stream, line []byte) {
	line = bytes.TrimRight(line, "\r\n")
	line = line[bytes.LastIndexByte(line, '\r')+1:] // as a terminal shows it
	for len(line) > 0 {
		piece := line
		if len(piece) > maxLine {
			piece = piece[:endOfRunes(piece[:maxLine])]
		}
		line = line[len(piece):]
		o.logger.Log(ctx, s.level, strings.ToValidUTF8(string(piece), "\uFFFD"), slog.String("stream", s.name))
	}
}

func (o *output) sayDropped(ctx context.Context) {
	if n := o.dropped.Swap(0); n > 0 {
		o.logger.WarnContext(ctx, "lines of the output are not in the log, because the log is too slow", slog.Int64("lines", n))
	}
}

// end returns the end of the output.
func (o *output) end() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return []byte(o.all.String())
}

// Bounds of what an error shows of standard error.
const (
	maxErrorLines = 3
	maxErrorText  = 300
)

// lastWords returns the last lines of standard error, in one line.
func (o *output) lastWords() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var lines []string
	for line := range strings.SplitSeq(o.stderr.String(), "\n") {
		line = strings.TrimSpace(line[strings.LastIndexByte(strings.TrimRight(line, "\r"), '\r')+1:])
		if line != "" {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines[max(0, len(lines)-maxErrorLines):], " | ")
	end := tail{most: maxErrorText}
	end.add([]byte(text))
	return end.String()
}
