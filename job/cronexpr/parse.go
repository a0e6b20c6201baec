package cronexpr

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// Parse reads a Quartz expression of six or seven fields, or a descriptor such
// as @daily or "@every 1m30s", whose times are told in the given zone; nil
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
	case words[0].text[0] == '@':
		err = p.descriptor(words, s)
	default:
		err = p.pattern(words, &s.pattern)
	}
	if err == nil && s.every == 0 {
		s.timeline = newTimeline(loc)
		err = p.fires(words, s)
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

// slice is t[from:to] with its place kept.
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

// split finds the words of the expression. Letters are folded byte by byte, so
// that the words keep their places and only ASCII letters change.
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

// parser knows what is needed to word an error.
type parser struct {
	expr  string
	field field // the one being read
}

// fail blames t.
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
	if first := words[0].text; strings.HasPrefix(first, "TZ=") || strings.HasPrefix(first, "CRON_TZ=") {
		return p.fail(words[0], "the time zone is not part of the expression", "")
	}
	if len(words) <= dayOfWeek {
		problem := fmt.Sprintf("the expression ends after %d of the fields %s", len(words), fieldOrder)
		return p.fail(token{at: len(p.expr)}, problem, "")
	}
	if len(words) > len(fields) {
		return p.fail(words[len(fields)], "too much; the fields are "+fieldOrder, "")
	}

	if len(words) == year {
		words = append(words, token{"*", len(p.expr)})
	}

	for i, word := range words {
		p.field = fields[i]
		if word.text == "?" && (i == dayOfMonth || i == dayOfWeek) {
			continue
		}
		for rest, more := word, true; more; {
			var item token
			item, rest, more = rest.cut(',')
			if err := p.item(i, item, out); err != nil {
				return err
			}
		}
	}

	p.field = fields[dayOfWeek]
	switch dom, dow := words[dayOfMonth], words[dayOfWeek]; {
	case dom.text == "?" && dow.text == "?":
		return p.fail(dow, "day-of-month is ? already; one of the two must name days", "")
	case dom.text != "?" && dow.text != "?":
		return p.fail(dow, fmt.Sprintf("day-of-month is %s; one of the two must be ?", brief.Quote(dom.text)), "")
	}
	// Every day is every day, whichever field says it.
	if out.ofMonth == setOf(1, 31) || out.ofWeek == setOf(1, 7) {
		out.days = days{ofMonth: setOf(1, 31)}
	}
	return nil
}

// item reads one of the comma-separated parts of a field into out.
func (p *parser) item(field int, item token, out *pattern) error {
	var read bool
	var err error
	switch field {
	case dayOfMonth:
		read, err = p.dayOfMonth(item, out)
	case dayOfWeek:
		read, err = p.dayOfWeek(item, out)
	}
	if read || err != nil {
		return err
	}

	span, stepText, stepped := item.cut('/')
	from, to, step := p.field.min, p.field.max, 1
	if whole := span.text == "*" || span.text == "" && stepped; !whole {
		first, last, ranged := span.cut('-')
		if from, err = p.value(first); err != nil {
			return err
		}
		switch {
		case ranged:
			if to, err = p.value(last); err != nil {
				return err
			}
		case !stepped:
			to = from
		}
		if stepped && isLetter(span.text[0]) {
			return p.fail(item, "a step cannot follow a name, because Quartz drops it without a word; "+
				"write the number in place of the name", "")
		}
	}
	if stepped {
		if step, err = p.number(stepText, 1, p.field.maxStep, "step"); err != nil {
			return err
		}
	}

	size := p.field.max - p.field.min + 1
	if to < from {
		if field == year {
			return p.fail(span, "the range ends before it begins", p.field.allowed)
		}
		to += size
	}
	for i := from; i <= to; i += step {
		value := i
		if value > p.field.max {
			value -= size
		}
		out.add(field, value)
	}
	return nil
}

// dayOfMonth reads the items that only day-of-month knows: L, L-n, LW, L-nW, nW.
func (p *parser) dayOfMonth(item token, out *pattern) (read bool, err error) {
	body, nearest := item, strings.HasSuffix(item.text, "W")
	if nearest {
		body = item.slice(0, len(item.text)-1)
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
		return true, p.fail(item, "not understood", p.field.allowed)
	}
	if nearest {
		out.nearestFromEnd.add(offset)
	} else {
		out.fromEnd.add(offset)
	}
	return true, nil
}

// dayOfWeek reads the items that only day-of-week knows: L, nL, n#k.
func (p *parser) dayOfWeek(item token, out *pattern) (read bool, err error) {
	if item.text == "L" {
		out.ofWeek.add(7)
		return true, nil
	}
	if body, k, found := item.cut('#'); found {
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
	if strings.HasSuffix(item.text, "L") {
		weekday, err := p.value(item.slice(0, len(item.text)-1))
		if err == nil {
			out.lastOfWeek.add(weekday)
		}
		return true, err
	}
	return false, nil
}

// value reads a number of the field or a name for one.
func (p *parser) value(t token) (int, error) {
	if i := slices.Index(p.field.names, t.text); i >= 0 {
		return p.field.min + i, nil
	}
	if t.text != "" && isLetter(t.text[0]) && p.field.names != nil {
		return 0, p.fail(t, "no such name", p.field.allowed)
	}
	return p.number(t, p.field.min, p.field.max, "value")
}

// number reads a decimal number from lo to hi. The noun is for the error.
func (p *parser) number(t token, lo, hi int, noun string) (int, error) {
	if t.text == "" {
		return 0, p.fail(t, "the "+noun+" is missing", p.field.allowed)
	}
	n := 0
	for _, c := range []byte(t.text) {
		if c < '0' || c > '9' {
			return 0, p.fail(t, "not a "+noun, p.field.allowed)
		}
		n = min(n*10+int(c-'0'), 1_000_000) // stays out of range, however long
	}
	if n < lo || n > hi {
		return 0, p.fail(t, fmt.Sprintf("the %s is not in %d-%d", noun, lo, hi), p.field.allowed)
	}
	return n, nil
}

func isLetter(c byte) bool { return 'A' <= c && c <= 'Z' }

// fires rejects a schedule without a single time.
func (p *parser) fires(words []token, s *Schedule) error {
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
