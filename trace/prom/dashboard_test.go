package prom_test

const dashboardFile = "../../deploy/grafana/elasticjob.json"
