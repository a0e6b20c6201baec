package script

// Words lets tests split a line without running it.
var Words = words
