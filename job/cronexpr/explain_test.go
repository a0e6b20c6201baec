package cronexpr_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/elasticjob-go/elasticjob/job/cronexpr"
)

func ExampleSchedule_Explain() {
	s, err := cronexpr.Parse("0 0 3 LW * ?", time.UTC)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Explain(cronexpr.English))
	fmt.Println(s.Explain(cronexpr.Chinese))
	// Output:
	// at 03:00 on the last weekday of every month
	// 每月最后一个工作日（周一至周五） 03:00
}

func TestExplain(t *testing.T) {
	for _, c := range explained {
		s, err := cronexpr.Parse(c.expr, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Explain(cronexpr.English); got != c.english {
			t.Errorf("%s: got\n%s, want\n%s", c.expr, got, c.english)
		}
		if got := s.Explain(cronexpr.Chinese); got != c.chinese {
			t.Errorf("%s: got\n%s, want\n%s", c.expr, got, c.chinese)
		}
		if got := s.Explain(0); got != c.english {
			t.Errorf("%s: in no language: %s", c.expr, got)
		}
	}
}

// Two expressions have the same words if they have the same times in every zone, and only then: words leave
// nothing out. Every expression that can be read has words.
func TestWordsTellApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, other := strings.Fields(expressions.Draw(t, "one")), strings.Fields(expressions.Draw(t, "other"))
		changed := rapid.IntRange(0, 6).Draw(t, "field")
		mixed := append([]string(nil), one...)
		switch {
		case changed == 3 || changed == 5: // both, because one of the two is ?
			mixed[3], mixed[5] = other[3], other[5]
		case changed == 6 && len(other) > 6:
			mixed = append(mixed[:6:6], other[6])
		case changed == 6:
			mixed = mixed[:6]
		default:
			mixed[changed] = other[changed]
		}
		a, errA := cronexpr.Parse(strings.Join(one, " "), time.UTC)
		b, errB := cronexpr.Parse(strings.Join(mixed, " "), time.UTC)
		if errA != nil || errB != nil {
			t.Skip("never fires")
		}
		for _, in := range []cronexpr.Language{cronexpr.English, cronexpr.Chinese} {
			if isSame := a.Explain(in) == b.Explain(in); isSame != (a.String() == b.String()) {
				t.Fatalf("%v and %v: %q and %q", a, b, a.Explain(in), b.Explain(in))
			}
			words := a.Explain(in)
			if words == "" || strings.TrimSpace(words) != words || strings.Contains(words, "  ") || strings.Contains(words, "%!") || strings.Contains(words, "%s") {
				t.Fatalf("%v: %q", a, words)
			}
		}
	})
}

// explained are expressions with their words.
var explained = []struct{ expr, english, chinese string }{
	{"0 0 3 LW * ?", "at 03:00 on the last weekday of every month", "每月最后一个工作日（周一至周五） 03:00"},
	{"0 * * * * ?", "every minute", "每分钟"},
	{"* * * * * ?", "every second", "每秒"},
	{"0/5 * * * * ?", "every 5 seconds", "每5秒"},
	{"0 0/15 * * * ?", "every 15 minutes", "每15分钟"},
	{"0 5/15 * * * ?", "at minutes 5, 20, 35 and 50 of every hour", "每小时的第5分、第20分、第35分、第50分"},
	{"0 0 * * * ?", "every hour", "每小时"},
	{"0 30 * * * ?", "at minute 30 of every hour", "每小时的第30分"},
	{"30 * * * * ?", "at second 30 of every minute", "每分钟的第30秒"},
	{"0 0 12 * * ?", "at 12:00 every day", "每天 12:00"},
	{"0 15 10 ? * *", "at 10:15 every day", "每天 10:15"},
	{"30 4 1,15 * 5", "at 04:30 on the 1st, the 15th and Fridays of every month", "每周五以及每月1日、15日 04:30"},
	{"0 0 1-31/2 2 SUN", "at 00:00 on every 2nd day from the 1st to the 31st and Sundays of February", "每年2月的每周日以及1日至31日中每2天 00:00"},
	{"0 15 10 ? * MON-FRI", "at 10:15 on Mondays to Fridays", "每周一至周五 10:15"},
	{"0 0/5 14 * * ?", "every 5 minutes from 14:00 to 14:55, every day", "每天 14:00至14:55每5分钟"},
	{"0 0/5 14,18 * * ?", "every 5 minutes of hours 14 and 18, every day", "每天 14点、18点的每5分钟"},
	{"0 0-5 14 * * ?", "every minute from 14:00 to 14:05, every day", "每天 14:00至14:05每分钟"},
	{"0 10,44 14 ? 3 WED", "at 14:10 and 14:44 on Wednesdays in March", "每年3月的每周三 14:10、14:44"},
	{"0 15 10 15 * ?", "at 10:15 on the 15th of every month", "每月15日 10:15"},
	{"0 15 10 L * ?", "at 10:15 on the last day of every month", "每月最后一天 10:15"},
	{"0 15 10 L-2 * ?", "at 10:15 on the 2nd day before the last one of every month", "每月倒数第3天 10:15"},
	{"0 15 10 L-1 * ?", "at 10:15 on the day before the last one of every month", "每月倒数第2天 10:15"},
	{"0 15 10 ? * 6L", "at 10:15 on the last Friday of every month", "每月最后一个周五 10:15"},
	{"0 15 10 ? * 6L 2026-2029", "at 10:15 on the last Friday of every month, in the years 2026 to 2029", "2026年至2029年的每月最后一个周五 10:15"},
	{"0 15 10 ? * 6#3", "at 10:15 on the 3rd Friday of every month", "每月第3个周五 10:15"},
	{"0 0 12 1/5 * ?", "at 12:00 on every 5th day from the 1st to the 31st of every month", "每月1日至31日中每5天 12:00"},
	{"0 11 11 11 11 ?", "at 11:11 on the 11th of November", "每年11月的11日 11:11"},
	{"0 0 9-17 * * ?", "every hour from 09:00 to 17:00, every day", "每天 09:00至17:00每小时"},
	{"0 0 9-17 ? * MON-FRI", "every hour from 09:00 to 17:00 on Mondays to Fridays", "每周一至周五 09:00至17:00每小时"},
	{"0 0/30 8-10 * * ?", "every 30 minutes from 08:00 to 10:30, every day", "每天 08:00至10:30每30分钟"},
	{"0 0 0/2 * * ?", "every 2 hours", "每2小时"},
	{"0 0 1/2 * * ?", "every 2 hours from 01:00 to 23:00, every day", "每天 01:00至23:00每2小时"},
	{"0 15 0/2 * * ?", "every 2 hours from 00:15 to 22:15, every day", "每天 00:15至22:15每2小时"},
	{"0 0/7 * * * ?", "at every 7th minute from 0 to 56 of every hour", "每小时的第0分至第56分中每7分钟"},
	{"0/7 * * * * ?", "at every 7th second from 0 to 56 of every minute", "每分钟的第0秒至第56秒中每7秒"},
	{"0/7 0 3 * * ?", "every 7 seconds from 03:00:00 to 03:00:56, every day", "每天 03:00:00至03:00:56每7秒"},
	{"0 0 0 1 1 ?", "at 00:00 on the 1st of January", "每年1月的1日 00:00"},
	{"0 0 0 1,15 * ?", "at 00:00 on the 1st and the 15th of every month", "每月1日、15日 00:00"},
	{"0 0 0 15W * ?", "at 00:00 on the weekday nearest to the 15th of every month", "每月最接近15日的工作日（周一至周五） 00:00"},
	{"0 0 0 L-3W * ?", "at 00:00 on the weekday nearest to the 3rd day before the last one of every month", "每月最接近倒数第4天的工作日（周一至周五） 00:00"},
	{"0 0 0 1-7 * ?", "at 00:00 on the 1st to the 7th of every month", "每月1日至7日 00:00"},
	{"0 0 0 1,15,L,LW,20W * ?", "at 00:00 on the 1st, the 15th, the weekday nearest to the 20th, the last day and the last weekday of every month", "每月1日、15日、最接近20日的工作日（周一至周五）、最后一天、最后一个工作日（周一至周五） 00:00"},
	{"0 0 0 */2 * ?", "at 00:00 on every 2nd day from the 1st to the 31st of every month", "每月1日至31日中每2天 00:00"},
	{"0 0 0 ? * MON,WED,FRI", "at 00:00 on Mondays, Wednesdays and Fridays", "每周一、周三、周五 00:00"},
	{"0 0 0 ? * FRI-MON", "at 00:00 on Mondays and Fridays to Sundays", "每周一、周五至周日 00:00"},
	{"0 0 0 ? * SAT,SUN", "at 00:00 on Saturdays and Sundays", "每周六、周日 00:00"},
	{"0 0 0 ? * MON,6#3,1L", "at 00:00 on Mondays, the 3rd Friday and the last Sunday of every month", "每周一以及每月第3个周五、最后一个周日 00:00"},
	{"0 0 0 * 6-8 ?", "at 00:00 every day in June to August", "每年6月至8月的每天 00:00"},
	{"0 0/15 * * 1 ?", "every 15 minutes in January", "每年1月 每15分钟"},
	{"0 0/15 * * * ? 2027", "every 15 minutes, in the year 2027", "2027年 每15分钟"},
	{"0 0 0 * * ? */2", "at 00:00 every day, in every 2nd year from 1970 to 2098", "1970年至2098年中每2年的每天 00:00"},
	{"0 0 0 * * ? 2026,2028,2030-2040", "at 00:00 every day, in the years 2026, 2028 and 2030 to 2040", "2026年、2028年、2030年至2040年的每天 00:00"},
	{"* * 9-17 * * ?", "every second from 09:00:00 to 17:59:59, every day", "每天 09:00:00至17:59:59每秒"},
	{"0/15 0/15 9,11,17 * * ?", "every 15 seconds of minutes 0, 15, 30 and 45 of hours 9, 11 and 17, every day", "每天 9点、11点、17点的第0分、第15分、第30分、第45分的每15秒"},
	{"30 0/20 * * * ?", "at second 30 of minutes 0, 20 and 40 of every hour", "每小时的第0分、第20分、第40分的第30秒"},
	{"* 0 * * * ?", "every second of minute 0 of every hour", "每小时的第0分的每秒"},
	{"* * 9,12,17 * * ?", "every second of every minute of hours 9, 12 and 17, every day", "每天 9点、12点、17点的每分钟的每秒"},
	{"0 0 22-2 * * ?", "at 00:00, 01:00, 02:00, 22:00 and 23:00 every day", "每天 00:00、01:00、02:00、22:00、23:00"},
	{"0 0 0,6,12,18 * * ?", "every 6 hours", "每6小时"},
	{"0 0 8,9,10,14,16,20 * * ?", "at 08:00, 09:00, 10:00, 14:00, 16:00 and 20:00 every day", "每天 08:00、09:00、10:00、14:00、16:00、20:00"},
	{"0 0 1,2,4,8,10,14,16,20 * * ?", "at minute 0 of hours 1, 2, 4, 8, 10, 14, 16 and 20 every day", "每天 1点、2点、4点、8点、10点、14点、16点、20点的第0分"},
	{"0 0,30 1,2,4,8,10,14,16,20 * * ?", "at minutes 0 and 30 of hours 1, 2, 4, 8, 10, 14, 16 and 20 every day", "每天 1点、2点、4点、8点、10点、14点、16点、20点的第0分、第30分"},
	{"0 0 3 31 * ?", "at 03:00 on the 31st of every month", "每月31日 03:00"},
	{"@every 90s", "every 90 seconds, counted from 1970-01-01 00:00 UTC", "每90秒，从 1970-01-01 00:00 UTC 起算"},
	{"@every 24h", "every 24 hours, counted from 1970-01-01 00:00 UTC", "每24小时，从 1970-01-01 00:00 UTC 起算"},
	{"@every 1m30s", "every 90 seconds, counted from 1970-01-01 00:00 UTC", "每90秒，从 1970-01-01 00:00 UTC 起算"},
	{"@daily", "at 00:00 every day", "每天 00:00"},
	{"@weekly", "at 00:00 on Sundays", "每周日 00:00"},
	{"0 0 12 ? 1 2#1 2027", "at 12:00 on the 1st Monday of January, in the year 2027", "2027年的1月的第1个周一 12:00"},
	{"0 0 12 ? * 2#1", "at 12:00 on the 1st Monday of every month", "每月第1个周一 12:00"},
	{"0 0 12 ? 1,3 MON", "at 12:00 on Mondays in January and March", "每年1月、3月的每周一 12:00"},
	{"5 4 3 2 1 ? 2030", "at 03:04:05 on the 2nd of January, in the year 2030", "2030年的1月的2日 03:04:05"},
	{"0 59 23 31 12 ?", "at 23:59 on the 31st of December", "每年12月的31日 23:59"},
	{"10-20 * * * * ?", "at seconds 10 to 20 of every minute", "每分钟的第10秒至第20秒"},
	{"0,30 0 0-22/2 ? * *", "at seconds 0 and 30 of minute 0 of every 2nd hour from 0 to 22 every day", "每天 0点至22点中每2小时的第0分的第0秒、第30秒"},
	{"0 1,2,3,7 0,3,6,9,12,15,18,21 * * ?", "at minutes 1 to 3 and 7 of every 3rd hour from 0 to 21 every day", "每天 0点至21点中每3小时的第1分至第3分、第7分"},
}
