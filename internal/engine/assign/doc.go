// Package assign asks the strategy of a job who should own each of its items.
//
//	owners, err := assigner.Desired(w)
//
// The leader assigns items by the answer ([Assigner.Owners]); any instance may ask, to find out whether an item
// that has just run is to move. A strategy may be the program's. It may panic, never return, or change its answer
// each time: then items stay where they are, and the error says so.
//
// Pins, bounds and broadcast jobs are package decide's: its World completes the answer.
package assign
