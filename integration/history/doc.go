// Package history is what the fault suite writes down while it runs, and how it reads
// that afterwards.
//
// Every process appends one line for each [Event] to a log of its own: a handler that
// started, was told to stop or returned, a commit that the registry answered, a write
// to the fenced resource; and the orchestrator one for each thing that it did to them.
// All lines carry the same monotonic clock, so the logs of one host put together are
// one history.
//
// [Check] looks for a piece of history that breaks a promise of package job. What it
// knows about the promises, it knows from their text and not from the code that is to
// keep them: it sees starts and ends, ticks and tokens, and what was done to whom.
//
// Not promised: that a history without a violation proves anything but itself. A run
// that was never disturbed passes, too; the figures of a [Report] tell how much there
// was to see.
package history
