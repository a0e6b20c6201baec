// Package prom has metrics for Prometheus.
package prom
