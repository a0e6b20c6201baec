package command

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/show"
)

// progress is a bar on the terminal of the person who waits; without one it shows nothing.
type progress struct {
	out   io.Writer // nil shows nothing
	label string
	shown time.Time
}

// progress returns a bar. The caller ends it before anything else is printed.
func (c *cli) progress(label string) *progress {
	p := &progress{label: show.Line(label)}
	if c.env.Ask != nil {
		p.out = c.env.Err
	}
	return p
}

const (
	barWidth = 30
	// barPause is how long a bar stands still at least.
	barPause = 100 * time.Millisecond
)

// at shows how much is done; total may be 0 if nobody knows.
func (p *progress) at(done, total int) {
	now := time.Now()
	if p.out == nil || now.Sub(p.shown) < barPause && done < total {
		return
	}
	p.shown = now
	if total <= 0 {
		fmt.Fprintf(p.out, "\r\x1b[K%s: %d", p.label, done)
		return
	}
	full := barWidth * min(done, total) / total
	fmt.Fprintf(p.out, "\r\x1b[K%s [%s%s] %d of %d", p.label, strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), done, total)
}

// end takes the bar away.
func (p *progress) end() {
	if p.out != nil && !p.shown.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
