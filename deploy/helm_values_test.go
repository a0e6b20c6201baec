package deploy

import (
	"encoding/json"
	"os"
	"path"
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
console: {enabled: true, tlsSecret: console-tls, config: {oidc: {issuer: https://login.example.com}}}
workers: {enabled: true}
`

// shownElsewhere are keys that values.yaml leaves to Helm, to Kubernetes and to the references of files.
var shownElsewhere = []string{
	"global", "console.resources.claims", "workers.resources.claims",
	"console.config.hosts", "console.config.origins", "console.config.openMetrics", "console.config.timeZone", "console.config.sessions",
	"console.config.limits", "console.config.connections", "console.config.proxy", "console.config.oidc",
	"console.config.sinks.file", "console.config.sinks.syslog", "console.config.sinks.webhook",
	"workers.settings.log", "workers.settings.tracing", "workers.settings.defaults",
}

// values.yaml shows every key that the schema allows, but for tables that are empty by default.
func TestHelmValuesAreListed(t *testing.T) {
	text, err := os.ReadFile(chartFolder + "/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	seen := 0
	var compare func(at string, node, shown map[string]any)
	compare = func(at string, node, shown map[string]any) {
		if ref, ok := node["$ref"].(string); ok {
			node = schema["definitions"].(map[string]any)[path.Base(ref)].(map[string]any)
		}
		if properties, _ := node["properties"].(map[string]any); len(shown) > 0 {
			for key, of := range properties {
				child, isAllowed := of.(map[string]any)
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
	compare("", schema, load(t).Values)
	if seen < 80 {
		t.Errorf("only %d keys were found", seen)
	}
}
