// Package once calls once-listeners, which are told of whole ticks of a job.
//
// The tree says which calls an instance has to make ([decide.World.Calls]) and which have been
// made. So after a lost answer, and after the end of an instance, it is known what is left.
//
//	            Tend                 it has returned        Tend
//	wanted ──────────────► under way ───────────────► done ──────► told ──► (not wanted any more)
//	                           └── Cancel: its context ends
//
// A call is made at most once, unless its instance ends in the middle of it: then another one makes it again.
package once
