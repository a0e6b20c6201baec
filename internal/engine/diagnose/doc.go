// Package diagnose finds out what keeps a job from running: the store, the tree, a clock or the configuration. Whatever
// it is, known or not: there are items that should have begun and have not ([Diagnosis.Waiting]).
//
//	diagnosis.Check(pass)   // sets the faults of this instance, and tells error handlers how the job stands
//	diagnosis.Record(world) // writes them into the tree, for operators
//
// What may only mean that others are faster, or that the view is late, becomes a fault when it has lasted for a while. A
// [Diagnosis] looks at what others decide and do, and changes nothing of it. It belongs to the goroutine of the job's loop.
package diagnose
