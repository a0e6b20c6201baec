package browsertest

import (
	"testing"

	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/browser"
	"github.com/elasticjob-go/elasticjob/console/browsertest/internal/world"
)

// BenchmarkDrawing measures a timeline of 100 items × 1,000 ticks, on a canvas of 1,900 × 800 pixels: to take all executions in, and
// to draw them, as long as they are all in sight and as somebody zooms in and pans. A frame is drawn when its pixels are there.
func BenchmarkDrawing(b *testing.B) {
	browser.Require(b)
	tab := enterAt(b, town.Start(b), world.Viewer, shopPages+"/jobs/"+world.Quick)
	tab.WaitFor("document.querySelector('.timeline-lanes')?.dataset.from")
	figures := map[string]float64{}
	for b.Loop() {
		tab.Eval(measureTimeline, &figures)
	}
	for name, figure := range figures {
		b.ReportMetric(figure, name)
	}
}

const measureTimeline = `(async () => {
	const base = document.querySelector('script[type=module][src]').src.replace(/pages\/.*/, '');
	const [{Runs}, {Paint, coloursOf}, {drawScene}] = await Promise.all(['runs', 'paint', 'draw'].map((name) => import(base + 'timeline-' + name + '.js')));
	const minute = 60000, length = 1000 * minute, now = Date.now(), begin = now - length;
	const c = {
		begin: new Date(begin).toISOString(), ids: [], items: [], ticks: [], begun: [], duration: [], outcome: [], source: [], instance: [],
		outcomes: ['OK', 'FAILED', 'LOST'], sources: ['NORMAL_TRIGGER', 'FAILOVER'], instances: ['10.0.0.1@-@1', '10.0.0.2@-@1', '10.0.0.3@-@1'],
	};
	for (let tick = 0; tick < 1000; tick++) {
		for (let item = 0; item < 100; item++) {
			const chance = (item * 31 + tick * 17) % 200;
			c.ids.push(tick + '-' + item);
			c.items.push(item);
			c.ticks.push(tick * minute);
			c.begun.push(tick * minute + (item * 37) % 900);
			c.duration.push(5000 + (item * tick * 7919) % 50000);
			c.outcome.push(chance < 2 ? chance + 1 : 0);
			c.source.push(chance === 2 ? 1 : 0);
			c.instance.push((item + Math.floor(tick / 100)) % 3);
		}
	}
	const runs = new Runs();
	const paint = new Paint();
	const canvas = document.createElement('canvas');
	[canvas.width, canvas.height] = [1900, 800];
	document.body.append(canvas);
	const to = canvas.getContext('2d');
	const read = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
	const lanes = c.items.slice(0, 100).map((item) => ({item, name: 'item ' + item, isOff: false, isAlone: false}));
	const colours = coloursOf(document.body);
	const median = (count, act) => {
		const took = [];
		for (let i = 0; i < count; i++) {
			const from = performance.now();
			act(i);
			took.push(performance.now() - from);
		}
		return took.sort((a, b) => a - b)[count >> 1];
	};
	const frame = (part) => median(11, (i) => {
		const span = {from: now - length * part * (1 + i / 200), to: now - length * part * i / 200};
		drawScene(to, {runs, kinds: paint.kinds, lanes, missed: new Map(), span, now, ticks: [], known: 0, colours, width: 1900, height: 800, gutter: 140, head: 26, laneHeight: 7, scroll: 0});
		read.drawImage(canvas, 0, 0, 1, 1, 0, 0, 1, 1);
		read.getImageData(0, 0, 1, 1);
	});
	const out = {'ms/take-in': median(3, () => { runs.clear(); runs.addColumns(c); }), 'ms/colours': median(5, () => paint.look(runs))};
	for (const [name, part] of [['whole', 1], ['half', 0.5], ['quarter', 0.25], ['tenth', 0.1], ['50th', 0.02]]) out['ms/frame-' + name] = frame(part);
	canvas.remove();
	return out;
})()`
