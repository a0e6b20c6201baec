package browsertest

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
)

// However far the reader is away: a bar is where an execution is, one that has failed is within a bar of failures, and there are never more
// bars than pixels.
func TestTimelineBars(t *testing.T) {
	t.Parallel()
	tab := enter(t, world.Viewer, shopPages+"/jobs/"+world.Quick)
	tab.WaitFor("document.querySelector('.timeline-lanes')")
	var wrong []string
	tab.Eval(wrongBars, &wrong)
	for _, w := range wrong {
		t.Error(w)
	}
}

// wrongBars is a list of what is wrong with the bars of 5,000 executions that come at any time.
const wrongBars = `(async () => {
	const base = document.querySelector('script[type=module][src]').src.replace(/pages\/.*/, '');
	const [{Runs}, {Paint, has}, {Bars, layout}] = await Promise.all(['runs', 'paint', 'layout'].map((name) => import(base + 'timeline-' + name + '.js')));
	let seed = 1;
	const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
	const runs = new Runs();
	const all = [];
	for (let i = 0, begin = 1e12; i < 5000; i++) {
		const duration = random() ** 8 * 60000;
		const outcome = random() < 0.02 ? 'FAILED' : random() < 0.01 ? 'LOST' : 'OK';
		all.push({id: 'x' + i, item: 0, tick: begin, begin, end: outcome === 'LOST' ? Infinity : begin + duration, outcome, source: 'NORMAL_TRIGGER', owner: random() < 0.5 ? 'a@-@1' : 'b@-@1'});
		begin += duration + random() ** 4 * 20000;
	}
	runs.addRuns(all.toSorted(() => random() - 0.5)); // they come in any order
	const paint = new Paint();
	paint.look(runs);
	const lane = runs.lanes.get(0);
	const [first, last] = [all[0].begin, all.at(-1).begin];
	const wrong = [];
	const bars = new Bars();
	const width = 1000;
	for (let length = last - first; length > 1000; length /= 3) {
		const from = first + random() * (last - first - length);
		layout(bars, runs, lane, {from, to: from + length}, width, last + 1e6, paint.kinds);
		const told = 'in ' + Math.round(length) + ' ms ';
		if (bars.count > width) wrong.push(told + bars.count + ' bars');
		const inSight = all.filter((r) => r.begin >= from && r.begin < from + length);
		for (const r of inSight) {
			const x = (r.begin - from) / length * width;
			const isThere = (kind) => bars.x.subarray(0, bars.count).some((left, i) => left <= x + 1 && left + bars.width[i] >= x - 1 && (bars.kind[i] & kind) === kind);
			if (!isThere(r.outcome === 'FAILED' ? has.failed : 0)) wrong.push(told + 'no bar of ' + r.id + ', ' + r.outcome + ', at ' + x);
		}
		const failures = bars.kind.subarray(0, bars.count).filter((kind) => kind & has.failed).length;
		if (failures > inSight.filter((r) => r.outcome === 'FAILED').length + 1) wrong.push(told + failures + ' bars of failures');
	}
	return wrong.slice(0, 5);
})()`
