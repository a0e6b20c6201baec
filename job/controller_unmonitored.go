package job

// fireUnmonitored begins the last tick of the items that are assigned here, without a
// word to the store. What was begun is known to this process only, and forgotten with
// it; two instances may both think that an item is theirs while it moves.
func (c *controller) fireUnmonitored(w *world) {
	if c.localTick.After(w.now.Add(futureTolerance)) {
		// The clock was far ahead. What was missed meanwhile nobody can tell. After a smaller
		// step the ticks are waited for: they were begun.
		c.localTick = w.now
		clear(c.missed)
	}
	tick := w.lastTick()
	var runs []*run
	due := tick.After(c.localTick)
	if due {
		c.localTick = tick
	}
	source := SourceNormal
	if due && w.now.Sub(tick) > c.settings.tolerance+w.slack {
		if !c.settings.misfire || c.settings.window > 0 && w.now.Sub(tick) > c.settings.window {
			due = false
		}
		source = SourceMisfire
	}
	for i := range min(c.settings.ShardingTotalCount, len(w.Items)) {
		item := &w.Items[i]
		if !item.Owner.Is(c.self.id) || item.Disabled || !w.active() {
			delete(c.missed, i)
			continue
		}
		switch {
		case w.runs[i] != nil:
			if due && c.settings.misfire {
				c.missed[i] = true
			}
		case due:
			delete(c.missed, i)
			runs = append(runs, &run{item: i, tick: tick, source: source, instance: c.self.id})
		case c.missed[i]:
			delete(c.missed, i)
			runs = append(runs, &run{item: i, tick: c.localTick, source: SourceMisfire, instance: c.self.id})
		}
	}
	c.start(runs, 0)
}

// triggerUnmonitored begins the items that were triggered and are idle.
func (c *controller) triggerUnmonitored(w *world) {
	var runs []*run
	for i, trigger := range c.triggers {
		if w.runs[i] != nil || !w.Item(i).Owner.Is(c.self.id) {
			continue
		}
		runs = append(runs, &run{item: i, tick: w.now, source: SourceManual, param: trigger.parameter, instance: c.self.id})
	}
	c.start(runs, 0)
}
