package cronexpr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/robfig/cron/v3"

	"github.com/elasticjob-go/elasticjob/internal/brief"
)

// fiveFields reads an expression of five fields into out, if Unix cron and robfig/cron take it for
// the same. Otherwise the error shows what each of them makes of it, in a form that both read so.
func (p *parser) fiveFields(words []token, out *pattern) error {
	unix, err := p.unix(words)
	robfig, robfigErr := readRobfig(p.expr)
	if err == nil && robfigErr == nil && unix == robfig {
		*out = unix
		return nil
	}

	const minuteFirst = "; five fields are those of Unix cron, minute first"
	refused, isRefused := errors.AsType[*ParseError](err)
	switch {
	case isRefused && robfigErr != nil:
		refused.Problem += minuteFirst
		return refused
	case isRefused:
		refused.Problem += fmt.Sprintf("%s, and robfig/cron reads it as %q: write that if it is meant", minuteFirst, robfig.unix())
		return refused
	case robfigErr != nil: // it has a 7 for Sunday, which is all that Unix cron alone reads
		p.field = unixFields[4].field
		return p.fail(words[4], fmt.Sprintf("Unix cron reads it as %q, and robfig/cron does not read it (%s): write %[1]q", unix.unix(), brief.Text(robfigErr.Error())), "")
	}
	i := 4 // whether days are those of both day fields depends on where there is a *
	if strings.Contains(words[2].text, "*") {
		i = 2
	}
	p.field = unixFields[i].field
	return p.fail(words[i], fmt.Sprintf("Unix cron reads it as %q, robfig/cron as %q: write the one that is meant", unix.unix(), robfig.unix()), "")
}

// readRobfig returns what the standard parser of robfig/cron makes of five fields. It must not have
// a time zone before them: the parser panics where nothing follows it.
func readRobfig(expr string) (pattern, error) {
	schedule, err := cron.ParseStandard(expr)
	if err != nil {
		return pattern{}, err
	}
	spec, ok := schedule.(*cron.SpecSchedule)
	if !ok {
		return pattern{}, fmt.Errorf("a %T", schedule)
	}
	// In its sets this bit says that the field has a * without a step: then days are those of both fields.
	const star = 1 << 63
	p := newUnixPattern()
	p.minutes, p.hours, p.months = set(spec.Minute&^star), set(spec.Hour&^star), set(spec.Month&^star)
	p.days, ok = unixDays(set(spec.Dom&^star), set(spec.Dow&^star)<<1, (spec.Dom|spec.Dow)&star != 0)
	if !ok || p.minutes == 0 || p.hours == 0 || p.months == 0 || p.days == (days{}) {
		return pattern{}, errors.New("a field without values") // a comma alone
	}
	return p, nil
}
