// Package integration is the fault suite: real processes on real servers, killed, stopped,
// cut off and misled, and one check of what all of them wrote down. See README.md.
package integration
