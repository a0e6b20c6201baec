module github.com/elasticjob-go/elasticjob/console

go 1.26.0

replace github.com/elasticjob-go/elasticjob => ..

replace github.com/elasticjob-go/elasticjob/trace/sqltrace => ../trace/sqltrace

require github.com/elasticjob-go/elasticjob v0.0.0-00010101000000-000000000000

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/teambition/rrule-go v1.8.2 // indirect
	go.uber.org/goleak v1.3.0
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.28.0 // indirect
	go.uber.org/zap/exp v0.3.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
)
