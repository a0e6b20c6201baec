package browser

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of what a failure tells of a page.
const (
	mostText     = 1500
	mostControls = 60
)

// describe says what is on the page, for the message of a failure.
func (tab *Tab) describe() string {
	ctx, cancel := context.WithTimeout(tab.ctx, 5*time.Second)
	defer cancel()
	var p struct {
		URL, Title, Text string
		Controls         []string
	}
	var b strings.Builder
	if err := tab.ask(ctx, &p, "describe"); err != nil {
		fmt.Fprintf(&b, "what is on the page cannot be told: %v\n", err)
	} else {
		fmt.Fprintf(&b, "page %s, titled %q\ntext: %s\n", p.URL, p.Title, shorten(p.Text))
		for i, c := range p.Controls {
			if i == mostControls {
				fmt.Fprintf(&b, "  … %d more\n", len(p.Controls)-i)
				break
			}
			fmt.Fprintf(&b, "  %s\n", c)
		}
	}
	faults, _ := tab.record.left()
	for _, f := range faults {
		fmt.Fprintf(&b, "fault: %s\n", f)
	}
	return b.String()
}

// shorten cuts a text between characters.
func shorten(text string) string {
	if len(text) <= mostText {
		return text
	}
	cut := mostText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
