package cronexpr

import (
	"fmt"
	"strconv"
	"strings"
)

// chinese says in Chinese when a schedule ticks: years, months, days and times, in this order.
func chinese(s *Schedule) string {
	if s.every > 0 {
		return chineseEvery(s.every) + "，从 1970-01-01 00:00 UTC 起算"
	}
	p := &s.pattern
	time, allDay := chineseTime(p.clock)
	days := chineseDays(&p.days, p.months, allDay)
	switch {
	case !p.years.isEvery() && days != "":
		days = chineseYears(&p.years) + "的" + days
	case !p.years.isEvery():
		days = chineseYears(&p.years)
	case p.months != setOf(1, 12):
		days = "每年" + days
	}
	return strings.TrimSpace(days + " " + time)
}

func chineseYears(s *yearSet) string {
	return chineseNumbers(s.members(), "", "年", "年")
}

// chineseDays says the days, with their months.
func chineseDays(d *days, months set, allDay bool) string {
	month := "每月"
	if months != setOf(1, 12) {
		month = chineseNumbers(members(months), "", "月", "个月")
	}
	var list []string
	if d.ofWeek != 0 {
		list = append(list, "每"+chineseList(fromMonday(d.ofWeek), weekdayInChinese))
	}
	if relative := chineseRelativeDays(d); len(relative) > 0 {
		text := strings.Join(relative, "、")
		if len(list) > 0 && months == setOf(1, 12) {
			text = "每月" + text
		}
		list = append(list, text)
	}
	text := strings.Join(list, "以及")
	if d.isEvery() {
		if text = "每天"; allDay {
			text = ""
		}
	}
	switch {
	case months != setOf(1, 12) && text != "":
		return month + "的" + text
	case months != setOf(1, 12):
		return month
	case d.isRelative() && d.ofWeek == 0:
		return month + text
	}
	return text
}

// chineseRelativeDays says the days that are counted in their month.
func chineseRelativeDays(d *days) []string {
	const workday = "工作日（周一至周五）"
	var list []string
	if d.ofMonth != 0 && !d.isEvery() {
		list = append(list, chineseNumbers(members(d.ofMonth), "", "日", "天"))
	}
	for _, n := range members(d.nearest) {
		list = append(list, fmt.Sprintf("最接近%d日的%s", n, workday))
	}
	for _, n := range members(d.fromEnd) {
		list = append(list, dayFromEndInChinese(n))
	}
	for _, n := range members(d.nearestFromEnd) {
		text := "最后一个" + workday
		if n > 0 {
			text = "最接近" + dayFromEndInChinese(n) + "的" + workday
		}
		list = append(list, text)
	}
	for _, n := range members(d.nthOfWeek) {
		list = append(list, fmt.Sprintf("第%d个%s", n/7+1, weekdayInChinese((n+6)%7)))
	}
	for _, n := range members(d.lastOfWeek) {
		list = append(list, "最后一个"+weekdayInChinese((n+5)%7))
	}
	return list
}

// weekdayInChinese returns the name of a day of the week; 0 is Monday.
func weekdayInChinese(n int) string {
	return "周" + [...]string{"一", "二", "三", "四", "五", "六", "日"}[n]
}

func dayFromEndInChinese(n int) string {
	if n == 0 {
		return "最后一天"
	}
	return fmt.Sprintf("倒数第%d天", n+1)
}

// chineseTime says the times of day, and whether all hours have some.
func chineseTime(c clock) (text string, allDay bool) {
	t := c.timing()
	switch {
	case t.at != nil:
		return strings.Join(t.at, "、"), false
	case t.allDay:
		return chineseEvery(int64(t.every)), true
	case t.every > 0:
		return fmt.Sprintf("%s至%s%s", c.show(t.first), c.show(t.last), chineseEvery(int64(t.every))), false
	}
	text = "每小时的"
	if !c.allHours() {
		text = chineseNumbers(members(c.hours), "", "点", "小时") + "的"
	}
	if c.inMinutes() {
		return text + chineseParts(c.minutes, "分", "分钟"), c.allHours()
	}
	switch {
	case c.minutes != setOf(0, 59):
		text += chineseNumbers(members(c.minutes), "第", "分", "分钟") + "的"
	case c.allHours():
		text = "每分钟的"
	default:
		text += "每分钟的"
	}
	return text + chineseParts(c.seconds, "秒", "秒"), c.allHours()
}

// chineseParts says which minutes of an hour, or seconds of a minute.
func chineseParts(s set, unit, length string) string {
	if s == setOf(0, 59) {
		return "每" + length
	}
	if step := evenly(s, 60); step > 0 {
		return fmt.Sprintf("每%d%s", step, length)
	}
	return chineseNumbers(members(s), "第", unit, length)
}

// chineseNumbers says numbers with their unit: 第0分、第5分至第20分, or by steps of a length.
func chineseNumbers(numbers []int, prefix, unit, length string) string {
	name := func(n int) string { return prefix + strconv.Itoa(n) + unit }
	if step := longStep(numbers); step > 0 {
		return fmt.Sprintf("%s至%s中每%d%s", name(numbers[0]), name(numbers[len(numbers)-1]), step, length)
	}
	return chineseList(numbers, name)
}

func chineseList(numbers []int, name func(int) string) string {
	var list []string
	for _, s := range spans(numbers) {
		text := name(s.from)
		if s.to != s.from {
			text += "至" + name(s.to)
		}
		list = append(list, text)
	}
	return strings.Join(list, "、")
}

func chineseEvery(seconds int64) string {
	n, unit := whole(seconds)
	name := map[int64]string{3600: "小时", 60: "分钟", 1: "秒"}[unit]
	if n == 1 {
		return "每" + name
	}
	return fmt.Sprintf("每%d%s", n, name)
}
