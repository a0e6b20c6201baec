{{/* Helpers get a dict: root is the context of the chart, part is console or workers. */}}

{{- define "elasticjob.name" -}}
{{ .root.Release.Name }}-{{ .part }}
{{- end }}

{{- define "elasticjob.selector" -}}
app.kubernetes.io/name: elasticjob
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "elasticjob.labels" -}}
{{ include "elasticjob.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "elasticjob.metadata" -}}
name: {{ include "elasticjob.name" . }}{{ get . "suffix" }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "elasticjob.labels" . | nindent 2 }}
  {{- with get . "labels" }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with get . "annotations" }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What both pods have in common, beside containers and volumes. */}}
{{- define "elasticjob.pod" -}}
{{- $v := index .root.Values .part -}}
automountServiceAccountToken: false
securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with index $v $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "elasticjob.container" -}}
{{- $v := index .root.Values .part }}
{{- $image := .root.Values.image }}
{{- $own := get $v "image" | default dict -}}
name: {{ .part }}
image: {{ printf "%s:%s" (get $own "repository" | default $image.repository) (coalesce (get $own "tag") $image.tag .root.Chart.AppVersion) | quote }}
imagePullPolicy: {{ $image.pullPolicy }}
resources:
  {{- toYaml $v.resources | nindent 2 }}
securityContext: {readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
{{- end }}

{{/* Secrets by their folders in /run/secrets. */}}
{{- define "elasticjob.secrets" -}}
{{- $v := index .root.Values .part }}
{{- $secrets := deepCopy $v.secrets }}
{{- with $v.user.secret }}{{ $_ := set $secrets "store" . }}{{ end }}
{{- with .root.Values.store.tls }}{{ if and .enabled .secret }}{{ $_ := set $secrets "store-tls" .secret }}{{ end }}{{ end }}
{{- with get $v "tlsSecret" }}{{ $_ := set $secrets "tls" . }}{{ end }}
{{- toYaml $secrets }}
{{- end }}

{{/* Fails if text, what the part reads, has a path in /run/secrets where no Secret is. */}}
{{- define "elasticjob.checkPaths" -}}
{{- $folders := include "elasticjob.secrets" . | fromYaml }}
{{- range regexFindAll "/run/secrets/[-a-zA-Z0-9._]+" .text -1 }}
{{- if not (hasKey $folders (base .)) }}
{{- fail (printf "%s.secrets: there is no folder %q for %s; allowed are %s" $.part (base .) . (keys $folders | sortAlpha | join ", " | default "none")) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "elasticjob.mounts" -}}
- {name: config, mountPath: /etc/elasticjob, readOnly: true}
{{- range $folder, $_ := include "elasticjob.secrets" . | fromYaml }}
- {name: {{ printf "secret-%s" $folder }}, mountPath: {{ printf "/run/secrets/%s" $folder }}, readOnly: true}
{{- end }}
{{- end }}

{{- define "elasticjob.volumes" -}}
- {name: config, configMap: {name: {{ include "elasticjob.name" . }}}}
{{- range $folder, $secret := include "elasticjob.secrets" . | fromYaml }}
- {name: {{ printf "secret-%s" $folder }}, secret: {secretName: {{ $secret }}}}
{{- end }}
{{- end }}

{{- define "elasticjob.env" -}}
{{- range $name, $value := (index .root.Values .part).env }}
- {name: {{ $name }}, value: {{ ternary $value (toJson $value) (kindIs "string" $value) | quote }}}
{{- end }}
{{- end }}

{{/* The files of TLS, by the names that a job file has for them. */}}
{{- define "elasticjob.storeTLS" -}}
{{- $tls := .Values.store.tls }}
{{- $files := dict }}
{{- if $tls.secret }}
{{- range $key := list "ca" "cert" "key" }}
{{- with index $tls $key }}{{ $_ := set $files $key (printf "/run/secrets/store-tls/%s" .) }}{{ end }}
{{- end }}
{{- end }}
{{- with $tls.serverName }}{{ $_ := set $files "serverName" . }}{{ end }}
{{- toYaml $files }}
{{- end }}

{{/* worker.yaml: the sections of the chart over those of workers.settings. */}}
{{- define "elasticjob.workerFile" -}}
{{- $store := .Values.store }}
{{- $v := .Values.workers }}
{{- $registry := dict "namespace" $store.namespace }}
{{- if $store.tls.enabled }}{{ $_ := set $registry "tls" (include "elasticjob.storeTLS" . | fromYaml) }}{{ end }}
{{- if eq $store.kind "etcd" }}
{{- $_ := set $registry "endpoints" $store.endpoints }}
{{- if $v.user.secret }}
{{- $_ := set $registry "username" $v.user.name }}
{{- $_ := set $registry "password" (printf "${file:/run/secrets/store/%s}" $v.user.passwordKey) }}
{{- end }}
{{- else }}
{{- $_ := set $registry "servers" $store.endpoints }}
{{- if $v.user.secret }}
{{- $_ := set $registry "digest" (printf "%s:${file:/run/secrets/store/%s}" $v.user.name $v.user.passwordKey) }}
{{- with $v.user.grantsKey }}{{ $_ := set $registry "grants" (printf "${file:/run/secrets/store/%s}" .) }}{{ end }}
{{- end }}
{{- end }}
{{- $node := dict "address" "${env:POD_IP}" "drain" (printf "%ds" (int $v.drainSeconds)) "cancelGrace" (printf "%ds" (int $v.cancelGraceSeconds)) }}
{{- $file := dict "registry" (dict $store.kind $registry) "node" $node "health" (dict "listen" ":8080") "metrics" (dict "type" "PROMETHEUS" "listen" ":8080") }}
{{- toYaml (mergeOverwrite (deepCopy $v.settings) $file) }}
{{- end }}
