package browsertest

import (
	"fmt"
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
)

// What has no page can be asked directly: expressions by choices, comparisons of texts, what is asked again and again, two
// changes of the same configuration.
func TestModulesOfSettings(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, "/about")
	for name, script := range map[string]string{
		// Each choice is understood again from the expression that it writes.
		"cron-form": `
			const times = ["00:00", "04:30", "23:59"];
			const all = [
				...m.steps.seconds.map((every) => ({ kind: "seconds", every })), ...m.steps.minutes.map((every) => ({ kind: "minutes", every })),
				...m.steps.hours.flatMap((every) => [0, 59].map((minute) => ({ kind: "hours", every, minute }))),
				...times.map((time) => ({ kind: "day", time })),
				...times.flatMap((time) => ["1", "15", "31", "L"].map((day) => ({ kind: "month", time, day }))),
				...Array.from({ length: 127 }, (_, i) => ({ kind: "week", time: "04:30", days: m.weekdays.filter((_, d) => (i + 1) & (1 << d)) })),
			];
			for (const form of all) {
				const expression = m.expressionOf({ every: 1, minute: 0, time: "03:00", days: ["MON"], day: "1", ...form });
				const again = m.formOf(expression);
				for (const [key, value] of Object.entries(form)) if (String(again[key]) !== String(value)) wrong.push(expression + " has " + key + " " + again[key] + ", not " + value);
			}
			for (const [unix, quartz] of Object.entries({
				"*/5 * * * *": "0 0/5 * * * ?", "0 */2 * * *": "0 0 0/2 * * ?", "0 3 * * *": "0 0 3 * * ?", "0 3 * * MON-FRI": "0 0 3 ? * MON-FRI", "0 3 15 * *": "0 0 3 15 * ?",
			})) if (m.expressionOf(m.formOf(unix)) !== quartz) wrong.push(unix + " is written as " + m.expressionOf(m.formOf(unix)));
			for (const other of ["0/5 * * * *", "0 3 ? * MON", "0 3 L * *", "0 3 1 * MON", "0 3 * * 1", "0 3 * 2 *", "0 0 3 * * ? 2030", "0 0 3 1W * ?", "0 0 3 ? * FRI#2", "10/30 * * * * ?", "@every 5m", "0 0/7 * * * ?", "0 0 3 ? * SUN-MON", "0 0 24 * * ?", "0 0 3 0 * ?", "x"])
				if (m.formOf(other).kind !== "other") wrong.push(other + " is taken for " + m.formOf(other).kind);`,
		// A comparison has both texts in it, and no fewer lines that are the same than a simple one finds.
		"diff": `
			let seed = 7;
			const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
			for (let i = 0; i < 500; i++) {
				const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)] + "\n").join("");
				const [before, after] = [text(), text()];
				const lines = m.diff(before, after);
				const side = (kind) => lines.filter((l) => l.kind !== kind).map((l) => l.text + "\n").join("");
				if (side("ins") !== before || side("del") !== after) wrong.push(JSON.stringify([before, after, lines]));
				if (before === after && lines.some((l) => l.kind !== "same")) wrong.push("the same text has changed: " + before);
			}
			const long = Array.from({ length: 5000 }, (_, i) => i).join("\n");
			if (m.diff(long, long + "\nlast").filter((l) => l.kind !== "same").length !== 1) wrong.push("one line of 5,001 is new");`,
		// What is to be asked at once while a load is under way is asked when that is over, and once.
		"poll": `
			const ends = [];
			const p = m.poll(() => new Promise((resolve) => ends.push(resolve)), 3600);
			for (let i = 0; i < 3; i++) p.now();
			for (const want of [1, 2, 2]) {
				if (ends.length !== want) wrong.push(ends.length + " loads, not " + want);
				ends.at(-1)();
				await new Promise((resolve) => setTimeout(resolve));
			}`,
		// What only one has changed is as he wants it; what both have is told.
		"settings-model": `
			const config = { jobName: "a", cron: "0 0 3 * * ?", shardingTotalCount: 3, failover: false, jobListenerTypes: ["x", "y"], props: { "retry.attempts": "2", own: "" } };
			const flat = m.flatOf(config);
			const back = m.configOf(flat, (key) => key !== "props: own");
			if (JSON.stringify(m.flatOf(back)) !== JSON.stringify(flat)) wrong.push(JSON.stringify([flat, back]));
			const r = m.merge({ a: "1", b: "1", c: "1", d: "1" }, { a: "2", b: "1", c: "2", d: "2" }, { a: "1", b: "3", c: "3", d: "2", e: "4" });
			if (JSON.stringify(r.both) !== '["c"]' || JSON.stringify(r.values) !== '{"a":"2","b":"3","c":"2","d":"2","e":"4"}') wrong.push(JSON.stringify(r));
			const dropped = m.merge({ a: "1", b: "1" }, { b: "1" }, { a: "1", b: "2" });
			if (JSON.stringify(dropped.values) !== '{"b":"2"}') wrong.push(JSON.stringify(dropped));`,
		// Days are those of the calendar's own clock, also when that is put back or forward.
		"month": `
			const spans = [
				{ from: "2026-10-23T18:00:00+02:00", to: "2026-10-26T08:00:00+01:00" }, // the clock is put back on the 25th
				{ from: "2026-10-28T12:00:00+01:00", to: "2026-10-28T13:00:00+01:00" }, { from: "2026-10-28T20:00:00+01:00", to: "2026-10-29T00:00:00+01:00" },
				{ from: "2026-10-31T00:00:00+01:00", to: "2026-11-02T00:00:00+01:00" },
			];
			const days = Object.fromEntries(m.leftOut("2026-10", spans));
			const want = { "2026-10-23": ["18:00–24:00"], "2026-10-24": "all", "2026-10-25": "all", "2026-10-26": ["00:00–08:00"], "2026-10-28": ["12:00–13:00", "20:00–24:00"], "2026-10-31": "all" };
			if (JSON.stringify(days) !== JSON.stringify(want)) wrong.push(JSON.stringify(days));
			if (m.daysOf("2028-02") !== 29 || m.daysOf("2026-02") !== 28) wrong.push("February");`,
	} {
		var wrong []string
		tab.Eval(fmt.Sprintf(`(async () => {
			const own = new URL(document.querySelector("script[type=module]").src);
			const m = await import(new URL("../%s.js", own));
			const wrong = [];
			%s
			return wrong;
		})()`, name, script), &wrong)
		for _, text := range wrong {
			t.Errorf("%s: %s", name, text)
		}
	}
}
