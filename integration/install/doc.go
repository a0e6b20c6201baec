// Package install has nothing but tests: of a release, and of its installation by somebody who has nothing of ours.
//
// scripts/release tags a copy of the working tree. The tagged modules become a module proxy of files, and with an empty
// home the go command installs the command and the quickstart from it, and builds a program for each public module. What
// passed is remembered by the content of the tree, so that it costs nothing until something changes.
package install
