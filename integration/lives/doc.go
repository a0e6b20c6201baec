// Package lives draws the sequence diagrams of docs/understand/architecture.md: each is what schedulers do on the
// simulated store in virtual time, commit by commit. It has nothing but tests. TestDiagrams compares the page with what
// the code does now, and writes it with -update, which is what make diagrams does.
package lives
