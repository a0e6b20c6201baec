package dataflow

// Properties is the table, for the test of the comment.
var Properties = properties
