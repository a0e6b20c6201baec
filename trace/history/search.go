package history

import "time"

// Search is the part that both searches of ElasticJob's console have.
type Search struct {
	// Number is that of the page, from 1, and Size how many rows it has. If one of them is less
	// than 1 it is the first page of 10, as in ElasticJob.
	Number, Size int
	// Sort is a column of ElasticJob's, as in the database or as in Java (startTime). Any other
	// one is as good as none: newest first. Only a sort by time or job finds a page in an index.
	Sort string
	// Descending sorts the other way round.
	Descending bool
	// From and To are both within; zero is open.
	From, To time.Time
}

// Found are the rows of a page, and how many there are in all: 1,000,000 may be more.
type Found[T any] struct {
	Rows  []T
	Total int64
}

// ExecutionSearch is a search for executions. Fields that are empty do not count.
type ExecutionSearch struct {
	Search
	Job, IP string
	Success *bool
}

// StatusSearch is a search for changes of state. Fields that are empty do not count.
type StatusSearch struct {
	Search
	Job, Source, ExecutionType, State string
}
