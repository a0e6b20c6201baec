// Package schedule makes the ticks of a job go by the calendars that its configuration names, and
// finds out what a schedule means that another instance has recorded.
//
//	settings = follower.Apply(settings)
//
// The calendars are read by the process (package pool). A [Follower] remembers what they said
// last, and belongs to the goroutine of the job's loop.
package schedule
