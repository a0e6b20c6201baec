// Package strategy decides which instance of a job owns which sharding item.
//
// A [Strategy] is a pure function of a [Request]: the job's name, the number of
// items, the instances that may be given items, and who owned what until now.
// It has no clock, no randomness and no memory of its own, so every process
// that looks at the same snapshot reaches the same answer, and an answer can be
// compared with what stands in the registry centre to learn whether anything
// has to move.
//
// These are built in. "Spread by name" tells whether jobs with few items start
// on different instances, "moves" what happens to items whose owner is still
// there when members come and go.
//
//	name                     items per instance     spread by name  moves
//	AVG_ALLOCATION           equal within one       no              as the blocks shift
//	ODEVITY                  equal within one       two ways        as the blocks shift
//	ROUND_ROBIN              equal within one       yes             as the blocks shift
//	SINGLE_SHARDING_BALANCE  equal within one       yes             one item: never; more: as ROUND_ROBIN
//	STICKY                   equal within one       yes             the fewest possible
//	WEIGHTED                 by weight within one   yes             the fewest possible
//
// The first four are ElasticJob's. The first three deal exactly as ElasticJob
// does when they are handed the instances in the same order; the order itself
// differs on purpose, see [Sort], and [DescendingID] brings ElasticJob's. STICKY and
// WEIGHTED have no counterpart there.
//
// AVG_ALLOCATION is the default because it is ElasticJob's. It gives item 0 of
// every job to the first instance, so many jobs of one item each all end up on
// one machine; choose any of the last four for those.
//
// Not promised: balance over several jobs together (a strategy sees one job
// and knows nothing of the load of the others), that an item is worth as much
// work as the next, or that the owner of an item is the right one to run it at
// this moment: disabled items, running items that keep their owner until they
// end, and labels are the business of the caller.
package strategy
