package cronexpr

import (
	"fmt"
	"strings"

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

// newUnixPattern returns a pattern of the second 0 and of all years, which five fields do not name.
func newUnixPattern() pattern {
	p := pattern{clock: clock{seconds: setOf(0, 0)}}
	p.addRange(year, minYear, maxYear, 1)
	return p
}

// unix reads five fields by the rules of Vixie cron; see Convert.
func (p *parser) unix(words []token) (pattern, error) {
	all := newUnixPattern()
	for i, f := range unixFields {
		p.field = f.field
		for rest, more := words[i], true; more; {
			var entry token
			entry, rest, more = rest.cut(',')
			if err := p.unixEntry(f.to, entry, &all); err != nil {
				return pattern{}, err
			}
		}
	}
	dom, dow := words[2], words[4]
	var ok bool
	if all.days, ok = unixDays(all.ofMonth, all.ofWeek, dom.text[0] == '*' || dow.text[0] == '*'); !ok {
		return pattern{}, p.fail(dow, fmt.Sprintf("with the day-of-month %s cron runs on days that are in both fields, which no expression of Quartz says; "+
			"if those of either are meant, write a range in place of *", brief.Quote(dom.text)), "")
	}
	return all, nil
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
		if span.text != "*" && !strings.Contains(span.text, "-") {
			advice := "write the value alone"
			if first < p.field.max {
				advice = fmt.Sprintf("write %d-%d and the step, or the value alone", first, p.field.max)
			}
			return p.fail(entry, "cron takes no notice of a step after a single value; "+advice, "")
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

// unixDays returns the days of two day fields: those that are in both, or those of either. ok is
// false if a pattern cannot say it.
func unixDays(ofMonth, ofWeek set, inBoth bool) (d days, ok bool) {
	everyDom, everyDow := ofMonth == setOf(1, 31), ofWeek == setOf(1, 7)
	switch {
	case everyDow && everyDom, !inBoth && (everyDow || everyDom):
		return days{ofMonth: setOf(1, 31)}, true
	case inBoth && everyDom:
		return days{ofWeek: ofWeek}, true
	case inBoth && everyDow:
		return days{ofMonth: ofMonth}, true
	}
	return days{ofMonth: ofMonth, ofWeek: ofWeek}, !inBoth
}

// areEither reports whether the days are those of either day field, which only five fields can say.
func (d *days) areEither() bool { return d.ofMonth != 0 && d.ofWeek != 0 }

// apart returns days that expressions of Quartz can say, one or two of them.
func (d *days) apart() []days {
	if d.areEither() {
		return []days{{ofMonth: d.ofMonth}, {ofWeek: d.ofWeek}}
	}
	return []days{*d}
}
