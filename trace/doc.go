// Package trace tells what happened: an [Event] for every execution and every change of
// state of the jobs of a process, and the lines that handlers have written.
package trace
