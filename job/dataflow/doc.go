// Package dataflow does the work of a job in batches: it fetches rows of data, and processes
// them. A [Flow] is the handler of a job:
//
//	flow := dataflow.WithCursor(fetch, process)
//	s, err := job.Schedule(ctx, reg, job.Config{
//		Name: "orders", Cron: "0/5 * * * * ?", ShardingTotalCount: 4,
//		Props: map[string]string{"streaming.process": "true"},
//	}, flow)
//
//	func fetch(ctx context.Context, sc job.ShardingContext, after int64, size int) ([]Order, int64, error) {
//		orders, err := query(ctx, "SELECT … WHERE id > ? AND id % ? = ? ORDER BY id LIMIT ?", after, sc.Total, sc.Item, size)
//		if err != nil || len(orders) == 0 {
//			return nil, 0, err
//		}
//		return orders, orders[len(orders)-1].ID, nil
//	}
//
//	func process(ctx context.Context, sc job.ShardingContext, orders []Order) error
//
// [New] makes a Flow without a cursor: its fetch finds out by itself what is still to do.
//
// # An execution
//
// By default it fetches once, processes the rows if there are any, and ends. A streaming one
// goes on until a fetch returns no rows. Between two batches it also ends
//
//   - when streaming.process was set to false in the registry;
//   - when its item is to move to another instance, because one has joined, say, and the next
//     tick has come: the other instance makes up for that tick at once, and goes on;
//   - when somebody has disabled the item, or all servers;
//   - when a shutdown was asked for. With Config.Failover another instance goes on at once.
//
// In the last three cases it was cut short ([job.OutcomeCut]), which is no failure. Without
// Config.Misfire, or Config.Failover after a shutdown, the next tick goes on. That of a job
// without a cron expression is the next trigger; its items do not move while they stream.
//
// It ends with an error when a fetch or a batch fails: the batches before are done. It also
// does when its context ends, with the reason of that: the time-out, a lost session or item,
// a shutdown that cannot wait any longer. Fetch and Process are given that context and should
// return soon; between batches the Flow looks by itself. Config.Retry counts for the whole
// execution: another attempt goes on behind the batches that are done.
//
// # Properties
//
// They stand in Config.Props, are checked at the start and at each change, and are read anew
// before each batch.
//
//	name                default  allowed         meaning
//	streaming.process   false    true, false     whether an execution goes on until a fetch returns no rows
//	dataflow.page.size  100      1 to 1,000,000  how many rows a fetch is asked for
//
// Other names that begin with "dataflow." or "streaming." are refused.
//
// # The cursor
//
// The registry keeps the cursor of each item, in the node cursor/{item}. When a batch has been
// processed, one commit moves the cursor behind it. The commit has a condition: nobody has
// claimed the item since. The next batch is fetched after that. So
//
//   - no row is left out, as long as fetch does not leave one out: an execution goes on after
//     the last batch that was processed, on whatever instance;
//   - a batch is processed again if it failed, or if it was processed and then the cursor could
//     not be moved: the process ended in between, or the item or the store was lost. That is
//     the last batch only. It is fetched again, so it may have other rows then.
//
// So a batch is processed at least once, and Process has to bear that. If the rows are in a
// database, the fencing token makes its effect happen once. Fetch leaves out what is done, a
// batch is one transaction, and each write has a condition:
//
//	UPDATE orders SET state = 'done', fence = $token WHERE id = $id AND state = 'new' AND fence <= $token
//
// If no row is affected, another execution has the item now, or had it when it wrote that row:
// roll back, and return an error. Each row belongs to one item, as [job.ShardingContext].Token
// asks for. The folder examples/orders has the whole of it.
//
// Rows that come later with a place before the cursor are not found. That happens with ids of
// transactions that commit in another order, and with times: let fetch leave out what is very
// new, or use New.
//
// The share of an item depends on the number of items. After that was changed, a cursor says
// how far the old share was done, and the new share has rows that nobody has looked at. Let the
// job end what it has to do before, or remove the cursors.
//
// # Bad states
//
//   - A fetch that always returns rows, because there always are some or because its cursor goes
//     round in a circle, keeps its execution, and a thread, for as long as
//     Config.Timeout allows, which is for ever by default. Ticks that come meanwhile are made up
//     for by one execution, if Config.Misfire is on. That is a fault only if the Flow does not
//     stream, or if a batch takes more than a minute.
//   - The fetch returns rows and the cursor that it was given: the execution fails with
//     [ErrCursorStays], before the rows are processed.
//   - The cursor cannot be written as JSON, or is too long: the execution fails before the rows
//     are processed.
//   - The cursor in the registry cannot be read as a C, because the program has another type
//     now: executions fail until the cursor is removed, or the program can read it. A field
//     that C has no more is ignored.
//   - Fetch or Process panics: as with any handler, the attempt fails.
//
// # What is not promised
//
// Rows of one item are processed one batch after the other, items at the same time. There is
// no order between items. A batch is not bounded in bytes; it is as large as what fetch returns.
package dataflow
