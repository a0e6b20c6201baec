package cronexpr_test

import (
	"fmt"
	"time"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

func Example() {
	loc, err := cronexpr.LoadLocation("GMT+08:00")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := cronexpr.Parse("0 15 10 ? * 6l", loc)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2027, 3, 1, 0, 0, 0, 0, loc)
	fmt.Println(s)
	fmt.Println(s.Prev(now))
	fmt.Println(s.Next(now))
	// Output:
	// 0 15 10 ? * FRIL
	// 2027-02-26 10:15:00 +0800 GMT+08:00
	// 2027-03-26 10:15:00 +0800 GMT+08:00
}

// What all of Go writes with github.com/robfig/cron/v3 is taken as it is, if Unix cron reads it so, too.
func ExampleParse_fiveFields() {
	for _, expr := range []string{"*/5 * * * *", "0 9 * * MON-FRI", "30 4 1,15 * 5", "0 0 */2 * 0-6"} {
		s, err := cronexpr.Parse(expr, time.UTC)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(s.Explain(cronexpr.English))
	}
	// Output:
	// every 5 minutes
	// at 09:00 on Mondays to Fridays
	// at 04:30 on the 1st, the 15th and Fridays of every month
	// cron expression "0 0 */2 * 0-6": day-of-month "*/2" at position 5: Unix cron reads it as "0 0 1-31/2 * *", robfig/cron as "0 0 * * *": write the one that is meant
}

func ExampleParse_error() {
	_, err := cronexpr.Parse("0 0 9 ? * MON-FRY", time.UTC)
	fmt.Println(err)
	_, err = cronexpr.Parse("0 0 0 30 2 ?", time.UTC)
	fmt.Println(err)
	// Output:
	// cron expression "0 0 9 ? * MON-FRY": day-of-week "FRY" at position 15: no such name; allowed: 1-7 (1 is Sunday) or SUN-SAT, L, 1L to 7L, 1#1 to 7#5 and , - * /, or ? alone
	// cron expression "0 0 0 30 2 ?": day-of-month "30" at position 7: the expression never fires: no such day in month 2
}
