package decide

import "github.com/elasticjob-go/elasticjob/coord"

// Killed reports whether an operator wants a run to end.
func (w *World) Killed(r *Run) bool { return w.Kills[r.Item].Kills(r.Token) }

// cleanKills removes kills that came too late, and those that nobody can read. A view may show
// a kill before it shows the claim of the run: so what makes it late is a condition.
func (w *World) cleanKills(c *changes) {
	for i, kill := range w.Kills {
		item := w.Item(i)
		ops := []coord.Op{coord.AtVersion(w.Job.Kill(i), kill.Version), coord.DeleteTree(w.Job.Kill(i))}
		switch {
		case kill.Err != nil:
		case item.Running == nil:
			ops = append(ops, coord.Absent(w.Job.Running(i)))
		case item.Fired == nil, !kill.Kills(item.Fired.Modified):
			ops = append(ops, w.ifUnclaimed(i, &item))
		default:
			continue
		}
		c.add(i, ops...)
	}
}
