// Package access says who may do what in a console.
package access
