// Package migrate moves jobs between two stores.
package migrate
