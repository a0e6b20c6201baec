package deploy

import (
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
)

// A wrong value is refused, and the error names it.
func TestHelmValuesMistakes(t *testing.T) {
	for change, want := range map[string]string{
		// Keys that nobody knows.
		"worker: {enabled: true}":                          "additional properties 'worker' not allowed",
		"workers: {replica: 3}":                            "'/workers': additional properties 'replica' not allowed",
		"store: {password: hunter2}":                       "'/store': additional properties 'password' not allowed",
		"console: {config: {oidc: {}, hots: []}}":          "'/console/config': additional properties 'hots' not allowed",
		"workers: {settings: {registry: {}}}":              "'/workers/settings': additional properties 'registry' not allowed",
		"workers: {autoscaling: {query: up}}":              "'/workers/autoscaling': additional properties 'query' not allowed",
		"networkPolicy: {metricsFrom: [{podSelectr: {}}]}": "'/networkPolicy/metricsFrom/0': additional properties 'podSelectr' not allowed",

		// Secrets in clear text.
		"console: {config: {oidc: {clientSecret: hunter2}}}":                                                                    "'/console/config/oidc/clientSecret'",
		"console: {config: {oidc: {}, connections: {keys: hunter2}}}":                                                           "'/console/config/connections/keys'",
		"console: {config: {oidc: {}, sinks: {webhook: {token: hunter2}}}}":                                                     "'/console/config/sinks/webhook/token'",
		"console: {connections: {namespaces: {a: {password: hunter2}}}}":                                                        "'/console/connections/namespaces/a/password'",
		"console: {history: 'postgres://u:hunter2@db/h'}":                                                                       "'/console/history'",
		"workers: {settings: {tracing: {database: 'postgres://u:hunter2@db/h'}}}":                                               "'/workers/settings/tracing/database'",
		"workers: {env: {SMTP_PASSWORD: hunter2}}":                                                                              "'/workers/env/SMTP_PASSWORD'",
		"store: {endpoints: ['http://root:hunter2@etcd:2379']}":                                                                 "'/store/endpoints/0'",
		"workers: {user: {name: worker}}":                                                                                       "'/workers/user/secret': minLength",
		"workers: {user: {secret: etcd-worker}}":                                                                                "'/workers/user/name': minLength",
		"workers: {secrets: {store: another}}":                                                                                  "'/workers/secrets/store'",
		"workers: {secrets: {mail: Mail_Account}}":                                                                              "'/workers/secrets/mail'",
		"store: {tls: {enabled: true, secret: etcd-tls, cert: tls.crt}}":                                                        "'/store/tls/key': minLength",
		"store: {tls: {enabled: true, cert: tls.crt, key: tls.key}}":                                                            "'/store/tls/secret': minLength",
		"console: {insecureHTTP: false, tlsSecret: ''}":                                                                         "'/console/tlsSecret': minLength",
		"console: {insecureHTTP: true, tlsSecret: console-tls}":                                                                 "'/console/tlsSecret': maxLength",
		"--- {image: {repository: a}, store: {endpoints: ['a:1'], namespace: b}, console: {enabled: true, insecureHTTP: true}}": "missing property 'oidc'",
		"console: {ingress: {enabled: true}}":                                                                                   "'/console/ingress/host': minLength",
		"console: {service: {port: 70000}}":                                                                                     "'/console/service/port': maximum",
		"image: {repository: ''}":                                                                                               "'/image/repository': minLength",
		"image: {pullPolicy: Sometimes}":                                                                                        "'/image/pullPolicy': value must be one of",
		"store: {kind: consul}":                                                                                                 "'/store/kind': value must be one of 'etcd', 'zookeeper'",
		"store: {endpoints: []}":                                                                                                "'/store/endpoints': minItems",
		"store: {endpoints: [etcd]}":                                                                                            "'/store/endpoints/0'",
		"store: {namespace: ''}":                                                                                                "'/store/namespace': minLength",
		"workers: {drainSeconds: 30s}":                                                                                          "'/workers/drainSeconds': got string, want integer",
		"workers: {drainSeconds: -1}":                                                                                           "'/workers/drainSeconds': minimum",
		"workers: {replicas: 0}":                                                                                                "'/workers/replicas': minimum",
		"workers: {image: {repository: registry.example.com/scripts}}":                                                          "'/workers/image/tag': minLength",
		"workers: {settings: {node: {drain: 30s}}}":                                                                             "'/workers/settings/node/drain'",
		"workers: {rollingUpdate: {maxSurge: some}}":                                                                            "'/workers/rollingUpdate/maxSurge'",
		"workers: {topologySpread: [{topologyKey: zone}]}":                                                                      "'/workers/topologySpread/0': missing properties 'maxSkew', 'whenUnsatisfiable'",
		"workers: {autoscaling: {enabled: true}}":                                                                               "'/workers/autoscaling/prometheus': minLength",
		"workers: {autoscaling: {minReplicas: 0}}":                                                                              "'/workers/autoscaling/minReplicas': minimum",
		"workers: {tmpSize: much}":                                                                                              "'/workers/tmpSize'",
		"serviceMonitor: {interval: often}":                                                                                     "'/serviceMonitor/interval'",
		"prometheusRule: {enabled: true, exclude: [ElasticJobLate, ElasticJobLater]}":                                           `prometheusRule.exclude: there is no alert "ElasticJobLater"`,

		// What Kubernetes refuses, or what never happens.
		"image: {repository: 'registry.example.com/elasticjob:0.1.0'}":                               "'/image/repository'",
		"image: {tag: 'sha256:0b1c'}":                                                                "'/image/tag'",
		"workers: {image: {repository: 'registry:5000/scripts:7', tag: '7'}}":                        "'/workers/image/repository'",
		"workers: {rollingUpdate: {maxSurge: 0}}":                                                    "'/workers/rollingUpdate/maxUnavailable'",
		"workers: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 0%}}":                               "'/workers/rollingUpdate/maxUnavailable'",
		"workers: {rollingUpdate: {maxSurge: 101%}}":                                                 "'/workers/rollingUpdate/maxSurge'",
		"workers: {maxDisrupted: 999%}":                                                              "'/workers/maxDisrupted'",
		"workers: {maxDisrupted: 0%}":                                                                "'/workers/maxDisrupted'",
		"workers: {maxDisrupted: 0}":                                                                 "'/workers/maxDisrupted'",
		"workers: {minReadySeconds: 700}":                                                            "'/workers/minReadySeconds': maximum",
		"workers: {autoscaling: {enabled: true, prometheus: 'http://p', minReplicas: 11}}":           "workers.autoscaling.minReplicas: it is 11; allowed are 1 to maxReplicas, 10",
		"workers: {resources: {limits: {memory: lots}}}":                                             "'/workers/resources/limits/memory'",
		"workers: {resources: {limits: {memory: 128m}}}":                                             "'/workers/resources/limits/memory'",
		"workers: {resources: {limits: {memory: -1}}}":                                               "'/workers/resources/limits/memory': minimum",
		"console: {resources: {requests: {cpu: 1 core}}}":                                            "'/console/resources/requests/cpu'",
		"console: {resources: {requests: {cpus: 1}}}":                                                "'/console/resources/requests': additional properties 'cpus' not allowed",
		"console: {resources: {claims: [{name: gpu}]}}":                                              "'/console/resources': additional properties 'claims' not allowed",
		"workers: {tmpSize: 64K}":                                                                    "'/workers/tmpSize'",
		"workers: {affinity: {nodeAfinity: {}}}":                                                     "'/workers/affinity': additional properties 'nodeAfinity' not allowed",
		"workers: {affinity: {podAffinity: {required: []}}}":                                         "'/workers/affinity/podAffinity': additional properties 'required' not allowed",
		"console: {tolerations: [{key: dedicated, op: Exists}]}":                                     "'/console/tolerations/0': additional properties 'op' not allowed",
		"console: {tolerations: [{key: dedicated, effect: NoRun}]}":                                  "'/console/tolerations/0/effect'",
		"networkPolicy: {egress: [{ports: [{prot: 1}]}]}":                                            "'/networkPolicy/egress/0/ports/0': additional properties 'prot' not allowed",
		"networkPolicy: {egress: [{ports: [{port: 2379, protocol: tcp}]}]}":                          "'/networkPolicy/egress/0/ports/0/protocol'",
		"networkPolicy: {egress: [{ports: [{port: '2379'}]}]}":                                       "'/networkPolicy/egress/0/ports/0/port'",
		"networkPolicy: {egress: [{ports: [{endPort: 2379}]}]}":                                      "'/networkPolicy/egress/0/ports/0': missing property 'port'",
		"networkPolicy: {consoleFrom: [{podSelector: {app: web}}]}":                                  "'/networkPolicy/consoleFrom/0/podSelector': additional properties 'app' not allowed",
		"networkPolicy: {consoleFrom: [{ipBlock: 10.0.0.0/8}]}":                                      "'/networkPolicy/consoleFrom/0/ipBlock': got string, want object",
		"{networkPolicy: {enabled: true}, serviceMonitor: {enabled: true}}":                          "'/networkPolicy/metricsFrom': minItems",
		"console: {config: {hosts: [a.example.com]}, ingress: {enabled: true, host: b.example.com}}": `console.ingress.host: the console does not answer to "b.example.com"; allowed are console.config.hosts, a.example.com`,
		"{prometheusRule: {enabled: true}, serviceMonitor: {interval: 1m}}":                          "'/serviceMonitor/interval'",

		// Names that the chart gives already.
		"serviceMonitor: {labels: {helm.sh/chart: mine}}":             "'/serviceMonitor/labels/helm.sh~1chart'",
		"prometheusRule: {labels: {app.kubernetes.io/name: mine}}":    "'/prometheusRule/labels/app.kubernetes.io~1name'",
		"workers: {podAnnotations: {checksum/worker: mine}}":          "'/workers/podAnnotations/checksum~1worker'",
		"console: {podAnnotations: {checksum/config: mine}}":          "'/console/podAnnotations/checksum~1config'",
		"console: {env: {ELASTICJOB_USER: root}}":                     "'/console/env/ELASTICJOB_USER'",
		"console: {env: {ELASTICJOB_HISTORY: 'sqlite:/tmp/history'}}": "'/console/env/ELASTICJOB_HISTORY'",
		"workers: {secrets: {mail-: account}}":                        "'/workers/secrets': additional properties 'mail-' not allowed",

		// Values that nothing reads.
		"workers: {user: {name: worker, secret: etcd-worker, grantsKey: grants}}":   "'/workers/user/grantsKey': maxLength",
		"console: {user: {name: console, secret: etcd-console, grantsKey: grants}}": "'/console/user/grantsKey': maxLength",
		"{store: {kind: zookeeper}, workers: {user: {grantsKey: grants}}}":          "'/workers/user/grantsKey': maxLength",
		"{store: {kind: zookeeper}, console: {user: {grantsKey: grants}}}":          "'/console/user/grantsKey': maxLength",
		"workers: {user: {passwordKey: worker}}":                                    "'/workers/user/passwordKey'",
		"store: {tls: {secret: etcd-tls}}":                                          "'/store/tls/secret': maxLength",
		"store: {tls: {secret: etcd-tls, cert: tls.crt, key: tls.key}}":             "'/store/tls/secret': maxLength",
		"store: {tls: {serverName: etcd.example.com}}":                              "'/store/tls/serverName': maxLength",
		"store: {tls: {enabled: true, ca: ca.pem}}":                                 "'/store/tls/ca'",

		// Keys and values of files that the pods would refuse.
		"workers: {settings: {node: {thread: 8}}}":                                                "'/workers/settings/node': additional properties 'thread' not allowed",
		"workers: {settings: {log: {fromat: json}}}":                                              "'/workers/settings/log': additional properties 'fromat' not allowed",
		"workers: {settings: {log: {format: yaml}}}":                                              "'/workers/settings/log/format'",
		"workers: {settings: {tracing: {typ: LOG}}}":                                              "'/workers/settings/tracing': additional properties 'typ' not allowed",
		"workers: {settings: {defaults: {timezone: UTC}}}":                                        "'/workers/settings/defaults': additional properties 'timezone' not allowed",
		"workers: {settings: {allow: {report: {script: {command: [/opt/*]}}}}}":                   "'/workers/settings/allow/report/script': additional properties 'command' not allowed",
		"workers: {jobs: {report: {shardingTotalCont: 3}}}":                                       "'/workers/jobs/report': additional properties 'shardingTotalCont' not allowed",
		"workers: {jobs: {report: {retry: {attempt: 3}}}}":                                        "'/workers/jobs/report/retry': additional properties 'attempt' not allowed",
		"workers: {jobs: {report: {type: SCRIPT, shardingTotalCount: 1}}}":                        "'/workers/settings/allow': minProperties",
		"workers: {settings: {node: {serve: false}}}":                                             "'/workers/jobs': minProperties",
		"console: {config: {sessions: {idel: 10m}}}":                                              "'/console/config/sessions': additional properties 'idel' not allowed",
		"console: {config: {sessions: {idle: 600}}}":                                              "'/console/config/sessions/idle'",
		"console: {config: {limits: {request: 10}}}":                                              "'/console/config/limits': additional properties 'request' not allowed",
		"console: {config: {findings: {lat: 1m}}}":                                                "'/console/config/findings': additional properties 'lat' not allowed",
		"console: {config: {oidc: {clientId: elasticjob}}}":                                       "'/console/config/oidc': additional properties 'clientId' not allowed",
		"console: {config: {proxy: {form: [10.0.0.0/8]}}}":                                        "'/console/config/proxy': additional properties 'form' not allowed",
		"console: {connections: {namespaces: {a: {tls: {ca: /a}}}}}":                              "'/console/connections/namespaces/a/tls': additional properties 'ca' not allowed",
		"console: {connections: {databases: {a: {adress: 'db:5432'}}}}":                           "'/console/connections/databases/a': additional properties 'adress' not allowed",
		"console: {history: '${file:/run/secrets/histroy/address}', secrets: {history: history}}": `console.secrets: there is no folder "histroy" for /run/secrets/histroy; allowed are history, tls`,
		"workers: {settings: {allow: {x: {references: {folders: [/run/secrets/mail]}}}}}":         `workers.secrets: there is no folder "mail" for /run/secrets/mail; allowed are none`,
		"--- {image: {repository: a}, store: {endpoints: ['a:1'], namespace: b}, console: {enabled: true, insecureHTTP: true, config: {proxy: {from: [10.0.0.1]}}}}": "'/console/config/proxy': missing properties 'user', 'groups', 'grants'",
	} {
		t.Run(change, func(t *testing.T) {
			given := map[string]any{}
			for _, text := range []string{sound, change} {
				if text == sound && strings.HasPrefix(change, "---") {
					continue // all values
				}
				v, err := chartutil.ReadValues([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				given = chartutil.MergeTables(v, given) // the first one counts
			}
			_, err := render(t, given)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v\nwant %s", err, want)
			}
		})
	}
	v, err := chartutil.ReadValues([]byte(sound))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := render(t, v); err != nil {
		t.Errorf("without a mistake: %v", err)
	}
}

// sound are values without a mistake.
const sound = `
image: {repository: registry.example.com/elasticjob}
store: {endpoints: ["etcd:2379"], namespace: shop}
console: {enabled: true, tlsSecret: console-tls, config: {oidc: {
  issuer: https://login.example.com, clientID: elasticjob, redirectURL: https://console.example.com/api/v1/oidc/callback, groups: {everybody: [viewer]}}}}
workers: {enabled: true}
`

// shownElsewhere are keys that values.yaml leaves to Helm, to Kubernetes and to the references of files.
var shownElsewhere = []string{
	"global",
	"console.config.hosts", "console.config.origins", "console.config.openMetrics", "console.config.timeZone", "console.config.sessions",
	"console.config.limits", "console.config.findings", "console.config.connections", "console.config.proxy", "console.config.oidc",
	"console.config.sinks.file", "console.config.sinks.syslog", "console.config.sinks.webhook",
	"workers.settings.log", "workers.settings.tracing", "workers.settings.defaults",
}

// values.yaml shows every key that the schema allows, but for tables that are empty by default.
func TestHelmValuesAreListed(t *testing.T) {
	s := readSchema(t)
	seen := 0
	var compare func(at string, of schema, shown map[string]any)
	compare = func(at string, of schema, shown map[string]any) {
		if properties := s.resolve(of).child("properties"); len(shown) > 0 {
			for key := range properties {
				child := properties.child(key)
				isAllowed := child != nil
				value, isShown := shown[key]
				if isAllowed && !isShown && !slices.Contains(shownElsewhere, at+key) {
					t.Errorf("values.yaml does not show %s%s", at, key)
				}
				if table, ok := value.(map[string]any); ok && isAllowed {
					compare(at+key+".", child, table)
				}
				seen++
			}
		}
	}
	compare("", s, load(t).Values)
	if seen < 80 {
		t.Errorf("only %d keys were found", seen)
	}
}
