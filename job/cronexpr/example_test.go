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

func ExampleParse_error() {
	_, err := cronexpr.Parse("0 0 9 ? * MON-FRY", time.UTC)
	fmt.Println(err)
	_, err = cronexpr.Parse("0 0 0 30 2 ?", time.UTC)
	fmt.Println(err)
	// Output:
	// cron expression "0 0 9 ? * MON-FRY": day-of-week "FRY" at position 15: no such name; allowed: 1-7 (1 is Sunday) or SUN-SAT, L, 1L to 7L, 1#1 to 7#5 and , - * /, or ? alone
	// cron expression "0 0 0 30 2 ?": day-of-month "30" at position 7: the expression never fires: no such day in month 2
}
