package show

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Progress is a bar on the terminal of the person who waits; without one it shows nothing.
type Progress struct {
	out   io.Writer // nil shows nothing
	label string
	shown time.Time
}

// NewProgress returns a bar on out, which may be nil. The caller ends it before anything else is printed.
func NewProgress(out io.Writer, label string) *Progress {
	return &Progress{out: out, label: Line(label)}
}

const (
	barWidth = 30
	// barPause is how long a bar stands still at least.
	barPause = 100 * time.Millisecond
)

// At shows how much is done; total may be 0 if nobody knows.
func (p *Progress) At(done, total int) {
	now := time.Now()
	if p.out == nil || now.Sub(p.shown) < barPause && (done < total || total <= 0) {
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

// End takes the bar away.
func (p *Progress) End() {
	if p.out != nil && !p.shown.IsZero() {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
