package cronexpr

import (
	"strings"
	"time"
)

// descriptor reads an expression that begins with @ into s.
func (p *parser) descriptor(words []token, s *Schedule) error {
	const known = "@every and a duration, @yearly or @annually, @monthly, @weekly, @daily or @midnight, @hourly"
	expr := ""
	switch words[0].text {
	case "@EVERY":
		return p.every(words, s)
	case "@YEARLY", "@ANNUALLY":
		expr = "0 0 0 1 1 ?"
	case "@MONTHLY":
		expr = "0 0 0 1 * ?"
	case "@WEEKLY":
		expr = "0 0 0 ? * SUN"
	case "@DAILY", "@MIDNIGHT":
		expr = "0 0 0 * * ?"
	case "@HOURLY":
		expr = "0 0 * * * ?"
	default:
		return p.fail(words[0], "no such descriptor", known)
	}
	if len(words) > 1 {
		return p.fail(words[1], "nothing may follow "+strings.ToLower(words[0].text), "")
	}
	return p.pattern(split(expr), &s.pattern)
}

// every reads "@every <duration>".
func (p *parser) every(words []token, s *Schedule) error {
	const allowed = "whole seconds from 1s on, such as 90s or 1h30m"
	if len(words) == 1 {
		return p.fail(token{at: len(p.expr)}, "the duration after @every is missing", allowed)
	}
	if len(words) > 2 {
		return p.fail(words[2], "nothing may follow the duration", "")
	}
	interval, err := time.ParseDuration(strings.ToLower(words[1].text))
	if err != nil {
		fail := p.fail(words[1], "not a duration", allowed)
		fail.cause = err
		return fail
	}
	if interval < time.Second || interval%time.Second != 0 {
		return p.fail(words[1], "not a duration of whole seconds", allowed)
	}
	s.every = int64(interval / time.Second)
	return nil
}
