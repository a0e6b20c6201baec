package strategy

// JavaHash is for tests that compare hash codes with Java's.
var JavaHash = javaHash
