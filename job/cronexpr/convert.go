package cronexpr

import (
	"fmt"
	"strings"
	"time"
)

// Convert returns expressions that tick when Unix cron runs a line with the given five fields, or
// with @yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly: mostly one, and two if
// both day fields say something, because cron then runs on the days of either. They are for Config.Cron
// and Config.MoreCrons of package job. One that never fires is left out.
//
// The meaning is that of Vixie cron, which most systems have: names of months and days may stand
// in ranges and lists; ranges do not go through the end of a field; a/n is an error, because cron
// takes it for a. If a day field begins with * and has a step, cron runs on the days of both fields,
// which no expression says: that is an error, unless the other field has all days.
//
// Parse takes five fields as they are, if robfig/cron reads them alike. Convert is for Quartz, which does not.
//
// The ticks are the same as long as clocks are not changed. Then cron has rules of its own; see the
// package comment for those here.
//
// The error is a *ParseError. It wraps ErrNeverFires if cron never runs the line either.
func Convert(expr string) ([]string, error) {
	p := parser{expr: expr}
	words := split(expr)
	if len(words) > 0 && words[0].text[0] == '@' {
		return p.nickname(words)
	}
	if err := p.checkUnixWords(words); err != nil {
		return nil, err
	}
	all, err := p.unix(words)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, d := range all.days.apart() {
		all.days = d
		if _, fires := all.next(minWall); fires {
			list = append(list, (&Schedule{pattern: all}).String())
		}
	}
	if len(list) == 0 {
		p.field = unixFields[2].field
		err := p.fail(words[2], ErrNeverFires.Error()+": no such day in month "+words[3].text, "")
		err.cause = ErrNeverFires
		return nil, err
	}
	return list, nil
}

// nickname converts an expression that begins with @.
func (p *parser) nickname(words []token) ([]string, error) {
	switch words[0].text {
	case "@REBOOT":
		return nil, p.fail(words[0], "it is no time; a program that is to do something when it starts runs a one-off job, without cron", "")
	case "@EVERY":
		return nil, p.fail(words[0], "Unix cron does not know it; it need not be converted: a job takes it as it is", "")
	}
	s, err := Parse(p.expr, time.UTC)
	if err != nil {
		return nil, err
	}
	return []string{s.String()}, nil
}

// checkUnixWords checks the number of fields.
func (p *parser) checkUnixWords(words []token) error {
	switch n := len(unixFields); {
	case hasZone(words):
		return p.failZone(words[0])
	case len(words) > 0 && strings.Contains(words[0].text, "="):
		return p.fail(words[0], "variables are not part of the expression", "")
	case len(words) < n:
		return p.fail(token{at: len(p.expr)}, fmt.Sprintf("the expression ends after %d of the fields %s", len(words), unixFieldOrder), "")
	case len(words) > n:
		if _, err := Parse(p.expr, time.UTC); err == nil {
			return p.fail(words[n], "it has the fields of Quartz already", "")
		}
		return p.fail(words[n], "too much; the fields are "+unixFieldOrder+", without a user or a command", "")
	}
	return nil
}
