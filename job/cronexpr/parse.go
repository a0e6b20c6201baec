package cronexpr

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Parse reads a Quartz expression of six or seven fields, the five fields of Unix cron, or a
// descriptor such as @daily or "@every 1m30s", whose times are told in the given zone; nil
// means time.Local. The package comment describes the language.
//
// Parse works out all clock changes of the zone, which takes about a tenth of a
// millisecond, so that Next and Prev need not: keep the schedule.
//
// The error is a *ParseError. It wraps ErrNeverFires if the expression is well
// formed but has no time in that zone from 1970 to 2099.
func Parse(expr string, loc *time.Location) (*Schedule, error) {
	if loc == nil {
		loc = time.Local
	}
	s := &Schedule{loc: loc}
	p := parser{expr: expr}
	words := split(expr)

	var err error
	switch {
	case len(words) == 0:
		err = p.fail(token{}, "empty", "")
	case hasZone(words):
		err = p.failZone(words[0])
	case words[0].text[0] == '@':
		err = p.descriptor(words, s)
	case len(words) == len(unixFields):
		err = p.fiveFields(words, &s.pattern)
		words = append([]token{{text: "0"}}, words...) // as Quartz has them
	default:
		err = p.pattern(words, &s.pattern)
	}
	if err == nil && s.every == 0 {
		s.timeline = newTimeline(loc)
		err = p.checkFires(words, s)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// token is a part of the expression, in upper case, and where it begins.
type token struct {
	text string
	at   int // in bytes
}

// slice returns t[from:to], which knows its own place in the expression.
func (t token) slice(from, to int) token {
	return token{t.text[from:to], t.at + from}
}

// cut splits t at the first sep, like strings.Cut.
func (t token) cut(sep byte) (before, after token, found bool) {
	if i := strings.IndexByte(t.text, sep); i >= 0 {
		return t.slice(0, i), t.slice(i+1, len(t.text)), true
	}
	return t, token{}, false
}

// split returns the words of the expression in upper case. It changes ASCII letters
// only, byte by byte, so every word keeps its place.
func split(expr string) []token {
	upper := []byte(expr)
	for i, c := range upper {
		if 'a' <= c && c <= 'z' {
			upper[i] = c - 'a' + 'A'
		}
	}
	var words []token
	all, from := token{text: string(upper)}, -1
	for i := 0; i <= len(upper); i++ {
		switch blank := i == len(upper) || strings.IndexByte(" \t\r\n", upper[i]) >= 0; {
		case blank && from >= 0:
			words = append(words, all.slice(from, i))
			from = -1
		case !blank && from < 0:
			from = i
		}
	}
	return words
}

// parser holds what an error message needs.
type parser struct {
	expr  string
	field field // the one being read
}

// fail returns an error about t.
func (p *parser) fail(t token, problem, allowed string) *ParseError {
	return &ParseError{
		Expr:     p.expr,
		Field:    p.field.name,
		Text:     p.expr[t.at : t.at+len(t.text)],
		Position: utf8.RuneCountInString(p.expr[:t.at]) + 1,
		Problem:  problem,
		Allowed:  allowed,
	}
}

const fieldOrder = "second minute hour day-of-month month day-of-week, and a year if wanted"

// pattern reads all fields into out.
func (p *parser) pattern(words []token, out *pattern) error {
	words, err := p.withYear(words)
	if err != nil {
		return err
	}
	for i, word := range words {
		p.field = fields[i]
		if err := p.list(i, word, out); err != nil {
			return err
		}
	}
	if err := p.oneOfDays(words); err != nil {
		return err
	}
	// Every day of the month and every day of the week are the same days.
	if out.ofMonth == setOf(1, 31) || out.ofWeek == setOf(1, 7) {
		out.days = days{ofMonth: setOf(1, 31)}
	}
	return nil
}

// hasZone reports whether an expression begins with a time zone, as robfig/cron allows.
func hasZone(words []token) bool {
	return len(words) > 0 && (strings.HasPrefix(words[0].text, "TZ=") || strings.HasPrefix(words[0].text, "CRON_TZ="))
}

func (p *parser) failZone(zone token) error {
	return p.fail(zone, "the time zone is not part of the expression; a job has it in TimeZone", "")
}

// withYear checks the number of fields, and adds the year if it is left out.
func (p *parser) withYear(words []token) ([]token, error) {
	switch {
	case len(words) <= dayOfWeek:
		problem := fmt.Sprintf("the expression ends after %d of the fields %s", len(words), fieldOrder)
		return nil, p.fail(token{at: len(p.expr)}, problem, "five fields (Unix), or six or seven (Quartz)")
	case len(words) > len(fields):
		return nil, p.fail(words[len(fields)], "too much; the fields are "+fieldOrder, "")
	case len(words) == year:
		return append(words, token{"*", len(p.expr)}), nil
	}
	return words, nil
}

// oneOfDays checks that one of the two day fields names days and the other one is ?.
func (p *parser) oneOfDays(words []token) error {
	dom, dow := words[dayOfMonth], words[dayOfWeek]
	p.field = fields[dayOfWeek]
	switch {
	case dom.text == "?" && dow.text == "?":
		return p.fail(dow, "day-of-month is ? already; one of the two must name days", "")
	case dom.text != "?" && dow.text != "?":
		ofMonth, ofWeek := p.with(words, dayOfWeek), p.with(words, dayOfMonth)
		advice := ofMonth + ", and " + ofWeek + " as a further expression if the days of either are meant"
		switch {
		case dow.text == "*":
			advice = ofMonth
		case dom.text == "*":
			advice = ofWeek
		}
		return p.fail(dow, fmt.Sprintf("day-of-month is %s; one of the two must be ?: write %s", brief.Quote(dom.text), advice), "")
	}
	return nil
}

// with returns the expression with a ? in a field.
func (p *parser) with(words []token, field int) string {
	var texts []string
	for i, word := range words {
		switch {
		case i == field:
			texts = append(texts, "?")
		case word.at < len(p.expr): // the year may be left out
			texts = append(texts, p.expr[word.at:word.at+len(word.text)])
		}
	}
	return brief.Quote(strings.Join(texts, " "))
}

// list reads the entries of a field, which have commas between them, into out. A ? for
// days has none.
func (p *parser) list(field int, word token, out *pattern) error {
	if word.text == "?" && (field == dayOfMonth || field == dayOfWeek) {
		return nil
	}
	for rest, more := word, true; more; {
		var entry token
		entry, rest, more = rest.cut(',')
		if err := p.entry(field, entry, out); err != nil {
			return err
		}
	}
	return nil
}

// entry reads one entry of a list into out.
func (p *parser) entry(field int, entry token, out *pattern) error {
	var read bool
	var err error
	switch field {
	case dayOfMonth:
		read, err = p.dayOfMonth(entry, out)
	case dayOfWeek:
		read, err = p.dayOfWeek(entry, out)
	}
	if read || err != nil {
		return err
	}

	span, stepText, hasStep := entry.cut('/')
	from, to, err := p.span(span, hasStep)
	if err != nil {
		return err
	}
	step := 1
	if hasStep {
		if span.text != "" && isLetter(span.text[0]) {
			return p.fail(entry, "a step cannot follow a name, because Quartz drops it without a word; "+
				"write the number in place of the name", "")
		}
		if step, err = p.number(stepText, 1, p.field.maxStep, "step"); err != nil {
			return err
		}
	}
	if to < from && field == year {
		return p.fail(span, "the range ends before it begins", p.field.allowed)
	}
	out.addRange(field, from, to, step)
	return nil
}

// span reads what stands before a step, or alone: *, a value, or a range. A value before
// a step begins a range that ends with the field.
func (p *parser) span(span token, hasStep bool) (from, to int, err error) {
	if span.text == "*" || span.text == "" && hasStep {
		return p.field.min, p.field.max, nil
	}
	first, last, isRange := span.cut('-')
	if from, err = p.value(first); err != nil {
		return 0, 0, err
	}
	switch {
	case isRange:
		to, err = p.value(last)
	case hasStep:
		to = p.field.max
	default:
		to = from
	}
	return from, to, err
}

// dayOfMonth reads the entries that only day-of-month knows: L, L-n, LW, L-nW, nW.
func (p *parser) dayOfMonth(entry token, out *pattern) (read bool, err error) {
	body, nearest := entry, strings.HasSuffix(entry.text, "W")
	if nearest {
		body = entry.slice(0, len(entry.text)-1)
	}
	if !strings.HasPrefix(body.text, "L") {
		if !nearest {
			return false, nil
		}
		n, err := p.number(body, 1, 31, "day")
		if err == nil {
			out.nearest.add(n)
		}
		return true, err
	}

	offset := 0
	switch {
	case len(body.text) == 1:
	case body.text[1] == '-':
		if offset, err = p.number(body.slice(2, len(body.text)), 0, 30, "offset"); err != nil {
			return true, err
		}
	default:
		return true, p.fail(entry, "not understood", p.field.allowed)
	}
	if nearest {
		out.nearestFromEnd.add(offset)
	} else {
		out.fromEnd.add(offset)
	}
	return true, nil
}

// dayOfWeek reads the entries that only day-of-week knows: L, nL, n#k.
func (p *parser) dayOfWeek(entry token, out *pattern) (read bool, err error) {
	if entry.text == "L" {
		out.ofWeek.add(7)
		return true, nil
	}
	if body, k, found := entry.cut('#'); found {
		weekday, err := p.value(body)
		if err != nil {
			return true, err
		}
		n, err := p.number(k, 1, 5, "number after #")
		if err == nil {
			out.nthOfWeek.add(nth(weekday, n))
		}
		return true, err
	}
	if strings.HasSuffix(entry.text, "L") {
		weekday, err := p.value(entry.slice(0, len(entry.text)-1))
		if err == nil {
			out.lastOfWeek.add(weekday)
		}
		return true, err
	}
	return false, nil
}

// value reads a number of the field, or a name that stands for one.
func (p *parser) value(t token) (int, error) {
	if i := slices.Index(p.field.names, t.text); i >= 0 {
		return p.field.min + i, nil
	}
	if t.text != "" && isLetter(t.text[0]) && p.field.names != nil {
		return 0, p.fail(t, "no such name", p.field.allowed)
	}
	return p.number(t, p.field.min, p.field.max, "value")
}

// number reads a decimal number from lo to hi. The error calls it by the noun.
func (p *parser) number(t token, lo, hi int, noun string) (int, error) {
	if t.text == "" {
		return 0, p.fail(t, "the "+noun+" is missing", p.field.allowed)
	}
	n := 0
	for _, c := range []byte(t.text) {
		if c < '0' || c > '9' {
			return 0, p.fail(t, "not a "+noun, p.field.allowed)
		}
		n = min(n*10+int(c-'0'), 1_000_000) // so that a long number does not overflow
	}
	if n < lo || n > hi {
		return 0, p.fail(t, fmt.Sprintf("the %s is not in %d-%d", noun, lo, hi), p.field.allowed)
	}
	return n, nil
}

func isLetter(c byte) bool { return 'A' <= c && c <= 'Z' }

// checkFires refuses a schedule that has no time at all.
func (p *parser) checkFires(words []token, s *Schedule) error {
	if !s.Next(time.Time{}).IsZero() {
		return nil
	}
	blamed := dayOfMonth
	problem := "no such day in month " + words[month].text
	if words[dayOfMonth].text == "?" {
		blamed = dayOfWeek
	}
	if len(words) > year {
		problem += " of year " + words[year].text
	}
	if _, ok := s.pattern.next(minWall); ok {
		blamed = hour
		problem = "clocks in " + s.loc.String() + " are put forward past every such time"
	}
	p.field = fields[blamed]
	err := p.fail(words[blamed], ErrNeverFires.Error()+": "+problem, "")
	err.cause = ErrNeverFires
	return err
}
