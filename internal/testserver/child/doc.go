// Package child is what test servers need that are child processes: free ports, and that
// nothing is left of them, even if the process that started them is killed.
package child
