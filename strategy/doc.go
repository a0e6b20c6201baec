// Package strategy decides which instance of a job owns which sharding item.
//
// A [Strategy] is a pure function of a [Request]: the job's name, the number of items, the instances that may be
// given items, and the owners until now. It has no clock, no randomness and no memory of its own. So every process
// that looks at the same snapshot gets the same answer, and a leader can compare the answer with the owners in the
// registry centre to see whether an item has to move.
//
// These are built in. "Spread by name" says whether jobs with few items begin at different instances. "Moves" says
// what happens to items whose owner is still there when other members come and go.
//
//	name                     items per instance     spread by name  moves
//	AVG_ALLOCATION           equal within one       no              as the blocks shift
//	ODEVITY                  equal within one       two ways        as the blocks shift
//	ROUND_ROBIN              equal within one       yes             as the blocks shift
//	SINGLE_SHARDING_BALANCE  equal within one       yes             one item: never; more: as ROUND_ROBIN
//	STICKY                   equal within one       yes             the fewest possible
//	WEIGHTED                 by weight within one   yes             the fewest possible
//	LEAST_LOADED             by what others have    yes             few
//
// The first four are ElasticJob's. The first three assign exactly as ElasticJob does if they get the instances in
// the same order. The order is another one on purpose, see [Sort]; with [DescendingID] it is ElasticJob's.
// ElasticJob has no STICKY, no WEIGHTED and no LEAST_LOADED.
//
// AVG_ALLOCATION is the default because it is ElasticJob's. It gives item 0 of every job to the first instance, so
// many jobs of one item each all run on one machine. Choose one of the last five for those. LEAST_LOADED looks at
// how many items of other jobs the instances have; the others see one job only.
//
// Not promised: that all items are equally much work; nor, by LEAST_LOADED, exact balance: the loads may be some
// seconds old, and a tenth more than the mean stays. And a strategy does not decide who may run an item at this
// moment: disabled items, running items, which keep their owner until they end, and labels are up to the caller.
package strategy
