package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/exit"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/moment"
	"github.com/elasticjob-go/elasticjob/cmd/elasticjob/internal/selection"
	"github.com/elasticjob-go/elasticjob/internal/brief"
	"github.com/elasticjob-go/elasticjob/jobtype"
)

// items is a flag with items of a job: 0,2-4.
type items []int

// Set reads items. It may be given several times.
func (l *items) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := itemOf(from)
		if err != nil {
			return err
		}
		last := first
		if isRange {
			if last, err = itemOf(to); err != nil {
				return err
			}
		}
		if last < first {
			return fmt.Errorf("%s ends before it begins", brief.Quote(part))
		}
		for i := first; i <= last; i++ {
			*l = append(*l, i)
		}
		if len(*l) > jobtype.MaxShardingTotalCount {
			return fmt.Errorf("more than %d items", jobtype.MaxShardingTotalCount)
		}
	}
	return nil
}

func itemOf(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= jobtype.MaxShardingTotalCount {
		return 0, fmt.Errorf("%s is no item; allowed are numbers from 0 to %d, and ranges: 0,2-4", brief.Quote(text), jobtype.MaxShardingTotalCount-1)
	}
	return n, nil
}

// String writes runs of items as ranges.
func (l *items) String() string { return selection.Ranges(*l) }

// Type is what help shows.
func (l *items) Type() string { return "items" }

// mayBe returns an error for a number of a flag that is below 0.
func mayBe[N int | time.Duration](flag string, n N) error {
	if n < 0 {
		return exit.Errorf(exit.Usage, "%s is %v; allowed are 0 and more", flag, n)
	}
	return nil
}

// clock writes a time for people, in the local zone; empty for the zero time.
func clock(t time.Time) string { return moment.Text(t) }

// oneOf is a flag with words of a list; upper and lower case are the same.
type oneOf struct {
	to      *[]string
	allowed []string
}

// Set reads words with commas between them. It may be given several times.
func (o *oneOf) Set(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(o.allowed, func(allowed string) bool { return strings.EqualFold(allowed, word) })
		if i < 0 {
			return fmt.Errorf("%s is unknown; allowed are %s", brief.Quote(word), strings.ToLower(strings.Join(o.allowed, ", ")))
		}
		*o.to = append(*o.to, o.allowed[i])
	}
	return nil
}

// String writes the words.
func (o *oneOf) String() string {
	if o.to == nil {
		return ""
	}
	return strings.Join(*o.to, ",")
}

// Type is what help shows.
func (o *oneOf) Type() string { return "words" }

// short is clock without the date, if that is today.
func short(t time.Time) string {
	if now := time.Now(); !t.IsZero() && t.Local().Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Local().Format(time.TimeOnly)
	}
	return clock(t)
}
