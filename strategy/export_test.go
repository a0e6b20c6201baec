package strategy

// JavaHash lets the tests compare hash codes with those that Java computes.
var JavaHash = javaHash
