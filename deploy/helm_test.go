// Package deploy tests the files of this folder.
package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/elasticjob-go/elasticjob/internal/docpage"
)

const chartFolder = "helm/elasticjob"

// valuePage is a page that shows values.
const valuePage = "operate/kubernetes.md"

// valueFiles has for each file of values the objects that it makes; the defaults have no file.
var valueFiles = map[string][]string{
	"": nil,
	valuePage: {
		"ConfigMap/shop-console", "ConfigMap/shop-workers", "Deployment/shop-console", "Deployment/shop-workers",
		"PodDisruptionBudget/shop-workers", "Service/shop-console",
	},
	"testdata/helm/all.yaml": {
		"ConfigMap/shop-console", "ConfigMap/shop-workers", "Deployment/shop-console", "Deployment/shop-workers", "Ingress/shop-console",
		"NetworkPolicy/shop-console", "NetworkPolicy/shop-workers", "PodDisruptionBudget/shop-workers", "PrometheusRule/shop-alerts",
		"ScaledObject/shop-workers", "Service/shop-console", "Service/shop-console-metrics", "Service/shop-workers-metrics", "ServiceMonitor/shop-console", "ServiceMonitor/shop-workers",
	},
	"testdata/helm/console.yaml": {
		"ConfigMap/shop-console", "Deployment/shop-console", "Ingress/shop-console", "NetworkPolicy/shop-console", "Service/shop-console",
	},
	"testdata/helm/workers.yaml": {"ConfigMap/shop-workers", "Deployment/shop-workers", "NetworkPolicy/shop-workers"},
}

// scaledObject has the fields of keda.sh/v1alpha1 that the chart may use.
type scaledObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ScaleTargetRef struct {
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
		MinReplicaCount *int32 `json:"minReplicaCount"`
		MaxReplicaCount *int32 `json:"maxReplicaCount"`
		Triggers        []struct {
			Type              string            `json:"type"`
			Metadata          map[string]string `json:"metadata"`
			AuthenticationRef *struct {
				Name string `json:"name"`
			} `json:"authenticationRef"`
		} `json:"triggers"`
	} `json:"spec"`
}

// kinds makes an empty object of each kind that the chart has.
var kinds = map[string]func() metav1.Object{
	"v1/ConfigMap":                            func() metav1.Object { return &corev1.ConfigMap{} },
	"v1/Service":                              func() metav1.Object { return &corev1.Service{} },
	"apps/v1/Deployment":                      func() metav1.Object { return &appsv1.Deployment{} },
	"policy/v1/PodDisruptionBudget":           func() metav1.Object { return &policyv1.PodDisruptionBudget{} },
	"networking.k8s.io/v1/Ingress":            func() metav1.Object { return &networkingv1.Ingress{} },
	"networking.k8s.io/v1/NetworkPolicy":      func() metav1.Object { return &networkingv1.NetworkPolicy{} },
	"monitoring.coreos.com/v1/ServiceMonitor": func() metav1.Object { return &monitoringv1.ServiceMonitor{} },
	"monitoring.coreos.com/v1/PrometheusRule": func() metav1.Object { return &monitoringv1.PrometheusRule{} },
	"keda.sh/v1alpha1/ScaledObject":           func() metav1.Object { return &scaledObject{} },
}

// objects are those of a release, by Kind/name.
type objects map[string]metav1.Object

// get returns an object, which has to be there.
func get[T metav1.Object](t *testing.T, all objects, name string) T {
	t.Helper()
	object, ok := all[name].(T)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	return object
}

// of returns the objects of a type, by their names.
func of[T metav1.Object](all objects) map[string]T {
	found := map[string]T{}
	for _, object := range all {
		if o, ok := object.(T); ok {
			found[o.GetName()] = o
		}
	}
	return found
}

// values reads a file of values; an empty path has none.
func values(t *testing.T, file string) map[string]any {
	t.Helper()
	var text []byte
	var err error
	switch file {
	case "":
	case valuePage:
		page := docpage.Open(t, file)
		for _, block := range page.Blocks() {
			if block.Language == "yaml" && strings.HasPrefix(block.Text, "# values.yaml\n") {
				text = []byte(block.Text)
			}
		}
	default:
		text, err = os.ReadFile(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	v, err := chartutil.ReadValues(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// render is helm template: it returns the files of the chart, by their names.
func render(t *testing.T, given map[string]any) (map[string]string, error) {
	t.Helper()
	c := load(t)
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: "shop", Namespace: "jobs", IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(c, all)
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// decode reads the objects of rendered files. A field that the API does not have is an error.
func decode(t *testing.T, files map[string]string) objects {
	t.Helper()
	all := objects{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) != ".yaml" {
			continue
		}
		for text := range strings.SplitSeq("\n"+files[name], "\n---") {
			var kind metav1.TypeMeta
			if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			if kind.Kind == "" && strings.TrimSpace(text) == "" {
				continue
			}
			create, ok := kinds[kind.APIVersion+"/"+kind.Kind]
			if !ok {
				t.Fatalf("%s: has the kind %q of %q\n%s", name, kind.Kind, kind.APIVersion, text)
			}
			object := create()
			if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
				t.Errorf("%s: %s: %v", name, kind.Kind, err)
			}
			id := kind.Kind + "/" + object.GetName()
			if all[id] != nil {
				t.Errorf("%s: %s is there twice", name, id)
			}
			if object.GetNamespace() != "jobs" {
				t.Errorf("%s: the namespace of %s is %q", name, id, object.GetNamespace())
			}
			all[id] = object
		}
	}
	return all
}

// rendered returns the objects that a file of values makes.
func rendered(t *testing.T, file string) objects {
	t.Helper()
	files, err := render(t, values(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, files)
}

// workerFile has the keys of a rendered worker.yaml that the chart depends on.
type workerFile struct {
	Node struct {
		Drain       metav1.Duration `json:"drain"`
		CancelGrace metav1.Duration `json:"cancelGrace"`
	} `json:"node"`
	Health  struct{ Listen string } `json:"health"`
	Metrics struct{ Listen string } `json:"metrics"`
}

func TestHelmObjects(t *testing.T) {
	for file, want := range valueFiles {
		t.Run(path.Base(file), func(t *testing.T) {
			given := values(t, file)
			all := rendered(t, file)
			if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
				t.Errorf("it has %q\nwant %q", got, want)
			}
			checkSelectors(t, all)
			for _, d := range of[*appsv1.Deployment](all) {
				checkPod(t, all, d, given)
			}
			if d := of[*appsv1.Deployment](all)["shop-workers"]; d != nil {
				checkWorkers(t, all, d)
			}
		})
	}
}

// checkPod checks what holds for every pod.
func checkPod(t *testing.T, all objects, d *appsv1.Deployment, given map[string]any) {
	t.Helper()
	pod := d.Spec.Template.Spec
	if s := pod.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.RunAsUser == nil || *s.RunAsUser == 0 || s.SeccompProfile == nil {
		t.Errorf("%s: the pod may run as root: %+v", d.Name, s)
	}
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Errorf("%s: the pod gets a token of a service account", d.Name)
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		if s == nil || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || s.RunAsUser != nil || s.Privileged != nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || s.Capabilities.Add != nil {
			t.Errorf("%s: the container may more than it needs: %+v", d.Name, s)
		}
		for name, p := range map[string]*corev1.Probe{"liveness": c.LivenessProbe, "readiness": c.ReadinessProbe} {
			if p == nil || portOf(c, p.HTTPGet.Port.StrVal) == 0 {
				t.Errorf("%s: the %s probe asks no port of the container: %+v", d.Name, name, p)
			}
		}
		mounted := map[string]bool{}
		for _, m := range c.VolumeMounts {
			mounted[m.Name] = true
		}
		for _, v := range pod.Volumes {
			if !mounted[v.Name] {
				t.Errorf("%s: volume %s is not mounted", d.Name, v.Name)
			}
		}
	}
	text, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range pod.Volumes {
		if v.ConfigMap != nil {
			get[*corev1.ConfigMap](t, all, "ConfigMap/"+v.ConfigMap.Name)
		}
		if v.Secret != nil && !bytes.Contains(text, fmt.Appendf(nil, "%q", v.Secret.SecretName)) {
			t.Errorf("%s: no value names Secret %s", d.Name, v.Secret.SecretName)
		}
	}
}

// portOf returns the number of a container's port; 0 if there is none of the name.
func portOf(c corev1.Container, name string) int32 {
	for _, p := range c.Ports {
		if p.Name == name {
			return p.ContainerPort
		}
	}
	return 0
}

// checkWorkers compares the Deployment of the workers with the file that they read.
func checkWorkers(t *testing.T, all objects, d *appsv1.Deployment) {
	t.Helper()
	var file workerFile
	if err := yaml.Unmarshal([]byte(get[*corev1.ConfigMap](t, all, "ConfigMap/shop-workers").Data["worker.yaml"]), &file); err != nil {
		t.Fatal(err)
	}
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	for _, listen := range []string{file.Health.Listen, file.Metrics.Listen} {
		if port := portOf(c, "http"); listen != fmt.Sprintf(":%d", port) {
			t.Errorf("the file listens at %q, the container has port %d", listen, port)
		}
	}
	for probe, path := range map[*corev1.Probe]string{c.StartupProbe: "/live", c.LivenessProbe: "/live", c.ReadinessProbe: "/ready"} {
		if probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != "http" {
			t.Errorf("a probe asks %s of port %s, want %s", probe.HTTPGet.Path, &probe.HTTPGet.Port, path)
		}
	}
	// docs/operate/kubernetes.md: the drain and 15 s more, of which 1 s is the default of cancelGrace.
	end := file.Node.Drain.Duration + file.Node.CancelGrace.Duration
	if got := *pod.TerminationGracePeriodSeconds; float64(got) != end.Seconds()+14 {
		t.Errorf("the grace period is %d s, drain and cancelGrace are %v", got, end)
	}
	if of[*scaledObject](all)["shop-workers"] != nil && d.Spec.Replicas != nil {
		t.Errorf("the Deployment sets %d replicas against the autoscaler", *d.Spec.Replicas)
	}
}

// The chart's alerts are those of the rules that promtool tests.
func TestHelmRules(t *testing.T) {
	copied, err := os.ReadFile(chartFolder + "/files/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(copied, rules) {
		t.Errorf("%s/files/rules.yaml is not prometheus/rules.yaml: copy it again", chartFolder)
	}
	var want monitoringv1.PrometheusRuleSpec
	if err := yaml.UnmarshalStrict(rules, &want); err != nil {
		t.Fatal(err)
	}
	for name, excluded := range map[string][]any{
		"all": {}, "without those that JVM members disturb": {"ElasticJobLeaderless", "ElasticJobDidNotRun"},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := render(t, map[string]any{"prometheusRule": map[string]any{"enabled": true, "exclude": excluded}})
			if err != nil {
				t.Fatal(err)
			}
			rule := get[*monitoringv1.PrometheusRule](t, decode(t, files), "PrometheusRule/shop-alerts")
			left := slices.DeleteFunc(slices.Clone(want.Groups[0].Rules), func(r monitoringv1.Rule) bool { return slices.Contains(excluded, any(r.Alert)) })
			got, err := yaml.Marshal(rule.Spec.Groups[0].Rules)
			if err != nil {
				t.Fatal(err)
			}
			if wanted, err := yaml.Marshal(left); err != nil || len(rule.Spec.Groups) != 1 || !bytes.Equal(got, wanted) || len(left)+len(excluded) != len(want.Groups[0].Rules) {
				t.Errorf("the rules are\n%s", got)
			}
		})
	}
}
