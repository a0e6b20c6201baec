// Package away tests what all pages of the console say while what they come from is away: the store, the console, the session,
// the right to see them. It waits most of the time, and has a browser of its own, so that the other tests of the pages do not
// wait for it.
package away
