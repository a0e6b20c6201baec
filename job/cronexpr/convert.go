package cronexpr

import (
	"fmt"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// unixFields are the fields of Unix cron in their order: what may stand there, and the field of
// Quartz that says it.
var unixFields = [...]struct {
	field
	to int
}{
	{fields[minute], minute},
	{fields[hour], hour},
	{field{name: "day-of-month", min: 1, max: 31, allowed: "1-31 and , - * /"}, dayOfMonth},
	{fields[month], month},
	{field{name: "day-of-week", min: 0, max: 7, names: fields[dayOfWeek].names, allowed: "0-7 (0 and 7 are Sunday) or SUN-SAT and , - * /"}, dayOfWeek},
}

const (
	unixFieldOrder = "minute hour day-of-month month day-of-week"
	// maxUnixStep bounds steps. One that is longer than its range leaves the first value.
	maxUnixStep = 999
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
	var all pattern
	all.seconds.add(0)
	all.addRange(year, minYear, maxYear, 1)
	for i, f := range unixFields {
		p.field = f.field
		for rest, more := words[i], true; more; {
			var entry token
			entry, rest, more = rest.cut(',')
			if err := p.unixEntry(f.to, entry, &all); err != nil {
				return nil, err
			}
		}
	}
	alternatives, err := p.unixDays(words[2], words[4], all.days)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, d := range alternatives {
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
	case len(words) > 0 && strings.Contains(words[0].text, "="):
		return p.fail(words[0], "variables, such as the time zone, are not part of the expression", "")
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

// unixEntry reads one entry of a list into a field of Quartz.
func (p *parser) unixEntry(to int, entry token, out *pattern) error {
	span, stepText, hasStep := entry.cut('/')
	first, last, err := p.unixSpan(span)
	if err != nil {
		return err
	}
	step := 1
	if hasStep {
		if span.text != "*" && first == last {
			return p.fail(entry, fmt.Sprintf("cron takes no notice of a step after a single value; write %d-%d and the step, or the value alone", first, p.field.max), "")
		}
		if step, err = p.number(stepText, 1, maxUnixStep, "step"); err != nil {
			return err
		}
	}
	for n := first; n <= last; n += step {
		value := n
		if to == dayOfWeek {
			value = n%7 + 1
		}
		out.add(to, value)
	}
	return nil
}

// unixSpan reads what stands before a step, or alone: *, a value, or a range.
func (p *parser) unixSpan(span token) (first, last int, err error) {
	if span.text == "*" {
		return p.field.min, p.field.max, nil
	}
	from, to, isRange := span.cut('-')
	if first, err = p.value(from); err != nil || !isRange {
		return first, first, err
	}
	if last, err = p.value(to); err != nil {
		return 0, 0, err
	}
	if last < first {
		return 0, 0, p.fail(span, "the range ends before it begins", p.field.allowed)
	}
	return first, last, nil
}

// unixDays returns the days of one expression of Quartz, or of two. The rule is cron's: days of
// either field count, but if one of the two begins with * those of both.
func (p *parser) unixDays(dom, dow token, d days) ([]days, error) {
	isBoth := dom.text[0] == '*' || dow.text[0] == '*'
	everyDom, everyDow := d.ofMonth == setOf(1, 31), d.ofWeek == setOf(1, 7)
	byMonth, byWeek := days{ofMonth: d.ofMonth}, days{ofWeek: d.ofWeek}
	switch {
	case everyDow && everyDom, !isBoth && (everyDow || everyDom):
		return []days{{ofMonth: setOf(1, 31)}}, nil
	case everyDom:
		return []days{byWeek}, nil
	case everyDow:
		return []days{byMonth}, nil
	case isBoth:
		p.field = unixFields[4].field
		return nil, p.fail(dow, fmt.Sprintf("with the day-of-month %s cron runs on days that are in both fields, which no expression of Quartz says; "+
			"if those of either are meant, write a range in place of *", brief.Quote(dom.text)), "")
	}
	return []days{byMonth, byWeek}, nil
}
