// Package pace measures how fast a job goes in this process: how long its runs take, and how long its claims wait for the
// store. The engine says by it how many items it claims beyond the threads that are free ([Runs]), and how long before
// their tick it claims them ([Claims]).
//
//	var claims pace.Claims
//	claims.Took(tick, next, 120*time.Millisecond) // a claim was answered 120 ms after it could be made
//	claims.Lead()                                 // 1 s: at least twice as long
//
// A value belongs to one goroutine. What is measured is forgotten when the process ends.
package pace
