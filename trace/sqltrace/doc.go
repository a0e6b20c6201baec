// Package sqltrace keeps the history of jobs in a database, in ElasticJob's tables.
package sqltrace
