{{- define "agentrun.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* What every pod of the service has. Service links would add variables such as AGENTRUN_PORT, which the service rejects. */ -}}
{{- define "agentrun.pod" -}}
enableServiceLinks: false
terminationGracePeriodSeconds: 60
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* The variables of a container, each once: those of the chart, `own` ones of its role, and `env` of the values, which takes precedence. */ -}}
{{- define "agentrun.env" -}}
{{- $all := dict "AGENTRUN_BASE_URL" .chart.Values.baseUrl "AGENTRUN_METRICS_PORT" "4601" "AGENTRUN_METRICS_HOST" "0.0.0.0" }}
{{- range $name, $value := merge (dict) (.chart.Values.env | default dict) .own $all }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- /* Named, so that no pod starts without them: each pod would seal secrets with a key of its own, which goes with the pod. */}}
{{- range list "DATABASE_URL" "AGENTRUN_SECRET_KEY" }}
- { name: {{ . }}, valueFrom: { secretKeyRef: { name: {{ $.chart.Values.existingSecret }}, key: {{ . }} } } }
{{- end }}
{{- end }}

{{- define "agentrun.confined" -}}
securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: [ALL] } }
{{- end }}

{{- define "agentrun.user" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
{{- end }}

{{- /* The probes of a container whose port has this number. Nothing is served before the database is migrated, which on large tables takes
minutes: a process that is killed meanwhile would start from the beginning each time. So a start may take an hour. */ -}}
{{- define "agentrun.probes" -}}
startupProbe: { httpGet: { path: /healthz, port: {{ . }} }, periodSeconds: 2, failureThreshold: 1800 }
livenessProbe: { httpGet: { path: /healthz, port: {{ . }} }, timeoutSeconds: 5 }
readinessProbe: { httpGet: { path: /readyz, port: {{ . }} }, periodSeconds: 5 }
{{- end }}
