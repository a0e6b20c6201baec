// Package jobtest is for tests of one's own jobs.
package jobtest
