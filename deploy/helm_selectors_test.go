package deploy

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// checkSelectors checks that each object selects the pods of the Deployment with its own name and nothing else,
// apart from -metrics, and that ports have the names by which others refer to them.
func checkSelectors(t *testing.T, all objects) {
	t.Helper()
	deployments, services := of[*appsv1.Deployment](all), of[*corev1.Service](all)
	selects := func(object metav1.Object, selector *metav1.LabelSelector) {
		t.Helper()
		s, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil || s.Empty() {
			t.Errorf("%T %s: selector %v, %v", object, object.GetName(), selector, err)
			return
		}
		for name, d := range deployments {
			if got := s.Matches(labels.Set(d.Spec.Template.Labels)); got != (name == target(object)) {
				t.Errorf("%T %s: whether it selects the pods of %s: %v", object, object.GetName(), name, got)
			}
		}
		if deployments[target(object)] == nil {
			t.Errorf("%T %s: there is no such Deployment", object, object.GetName())
		}
	}
	container := func(object metav1.Object) corev1.Container {
		return deployments[target(object)].Spec.Template.Spec.Containers[0]
	}
	for _, o := range deployments {
		selects(o, o.Spec.Selector)
		for _, spread := range o.Spec.Template.Spec.TopologySpreadConstraints {
			selects(o, spread.LabelSelector)
		}
	}
	for _, o := range of[*policyv1.PodDisruptionBudget](all) {
		selects(o, o.Spec.Selector)
	}
	for _, o := range services {
		selects(o, &metav1.LabelSelector{MatchLabels: o.Spec.Selector})
		for _, p := range o.Spec.Ports {
			if portOf(container(o), p.TargetPort.StrVal) == 0 {
				t.Errorf("Service %s: the container has no port %s", o.Name, &p.TargetPort)
			}
		}
	}
	for _, o := range of[*networkingv1.NetworkPolicy](all) {
		selects(o, &o.Spec.PodSelector)
		for _, rule := range o.Spec.Ingress {
			for _, p := range rule.Ports {
				if !slices.ContainsFunc(container(o).Ports, func(c corev1.ContainerPort) bool { return c.ContainerPort == p.Port.IntVal }) {
					t.Errorf("NetworkPolicy %s: the container has no port %s", o.Name, p.Port)
				}
			}
		}
	}
	for _, o := range of[*monitoringv1.ServiceMonitor](all) {
		s, err := metav1.LabelSelectorAsSelector(&o.Spec.Selector)
		service := services[o.Name+metricsSuffix]
		if err != nil || service == nil || !s.Matches(labels.Set(service.Labels)) {
			t.Errorf("ServiceMonitor %s does not select its Service: %v", o.Name, err)
			continue
		}
		for _, e := range o.Spec.Endpoints {
			if !slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == e.Port }) {
				t.Errorf("ServiceMonitor %s: the Service has no port %s", o.Name, e.Port)
			}
		}
	}
	for _, o := range of[*networkingv1.Ingress](all) {
		backend := o.Spec.Rules[0].HTTP.Paths[0].Backend.Service
		service := services[backend.Name]
		if service == nil || !slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == backend.Port.Name }) {
			t.Errorf("Ingress %s: no Service has port %s of %s", o.Name, backend.Port.Name, backend.Name)
		}
	}
	for _, o := range of[*scaledObject](all) {
		if deployments[o.Spec.ScaleTargetRef.Name] == nil {
			t.Errorf("ScaledObject %s: there is no Deployment %s", o.Name, o.Spec.ScaleTargetRef.Name)
		}
	}
}

// metricsSuffix ends the name of a Service that only Prometheus uses.
const metricsSuffix = "-metrics"

// target returns the name of the Deployment that an object is for.
func target(object metav1.Object) string { return strings.TrimSuffix(object.GetName(), metricsSuffix) }

// The autoscaler asks for metrics that workers have, with the namespace of their file. The ServiceMonitor gives them no
// label of its own, which would rename theirs.
func TestHelmAutoscaling(t *testing.T) {
	all := rendered(t, "testdata/helm/all.yaml")
	o := get[*scaledObject](t, all, "ScaledObject/shop-workers")
	if *o.Spec.MinReplicaCount != 3 || *o.Spec.MaxReplicaCount != 12 || len(o.Spec.Triggers) != 1 {
		t.Fatalf("%+v", o.Spec)
	}
	trigger := o.Spec.Triggers[0]
	if trigger.Type != "prometheus" || trigger.Metadata["threshold"] != "8" || trigger.Metadata["serverAddress"] != "http://prometheus.monitoring:9090" || trigger.AuthenticationRef.Name != "prometheus" {
		t.Errorf("%+v", trigger)
	}
	page, err := os.ReadFile("../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics := regexp.MustCompile(`elasticjob_\w+`).FindAllString(trigger.Metadata["query"], -1)
	for _, m := range metrics {
		if !strings.Contains(string(page), "| `"+m+"` | gauge |") {
			t.Errorf("docs/reference/metrics.md has no gauge %s", m)
		}
	}
	relabel := get[*monitoringv1.ServiceMonitor](t, all, "ServiceMonitor/shop-workers").Spec.Endpoints[0].RelabelConfigs
	if n := strings.Count(trigger.Metadata["query"], `{job_namespace="shop/jobs"}`); n != len(metrics) || n != 2 || len(relabel) > 0 {
		t.Errorf("the query is %s, the labels %+v", trigger.Metadata["query"], relabel)
	}
}

// A variable has the digits that its value has.
func TestHelmVariables(t *testing.T) {
	want := map[string]string{"HTTPS_PROXY": "http://proxy:3128", "ROWS": "1000000", "DRY_RUN": "false"}
	workers := get[*appsv1.Deployment](t, rendered(t, "testdata/helm/all.yaml"), "Deployment/shop-workers")
	for _, e := range workers.Spec.Template.Spec.Containers[0].Env {
		if text, ok := want[e.Name]; ok && e.Value != text {
			t.Errorf("%s is %q, want %q", e.Name, e.Value, text)
		}
		delete(want, e.Name)
	}
	if len(want) > 0 {
		t.Errorf("there are no variables %v", want)
	}
}

// A change of the jobs alone restarts no worker: they read the file again. Another change of their file does.
func TestHelmRestarts(t *testing.T) {
	sum := func(change func(workers map[string]any)) string {
		t.Helper()
		given := values(t, "testdata/helm/workers.yaml")
		change(given["workers"].(map[string]any))
		files, err := render(t, given)
		if err != nil {
			t.Fatal(err)
		}
		return get[*appsv1.Deployment](t, decode(t, files), "Deployment/shop-workers").Spec.Template.Annotations["checksum/worker"]
	}
	job := func(cron string) func(map[string]any) {
		return func(workers map[string]any) {
			workers["settings"] = map[string]any{"allow": map[string]any{"report": map[string]any{"everything": true}}}
			workers["jobs"] = map[string]any{"report": map[string]any{"type": "SCRIPT", "cron": cron, "shardingTotalCount": 1}}
		}
	}
	before := sum(job("0 0 3 * * ?"))
	if after := sum(job("0 0 4 * * ?")); after != before || before == "" {
		t.Errorf("another cron: %q, and %q", before, after)
	}
	if after := sum(func(workers map[string]any) { workers["drainSeconds"] = 60 }); after == before {
		t.Error("another drain does not restart the workers")
	}
}
