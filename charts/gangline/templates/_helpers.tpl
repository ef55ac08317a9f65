{{- /*
Whether the cluster lacks an object. Called with a list: the root, apiVersion, kind, name.
*/}}
{{- define "gangline.missing" -}}
{{- $served := (index . 0).Capabilities.APIVersions.Has (printf "%s/%s" (index . 1) (index . 2)) }}
{{- if or (not $served) (not (lookup (index . 1) (index . 2) "" (index . 3))) }}yes{{ end }}
{{- end }}

{{- /*
What `global` of the Config says of every pod.
*/}}
{{- define "gangline.wherever" -}}
{{- $global := .Values.config.global | default dict }}
{{- $others := $global.additionalImagePullSecrets | default list }}
{{- $secrets := append $others ($global.imagesPullSecret | default "") | compact | uniq | sortAlpha }}
{{- with $global.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $global.tolerations }}
tolerations:
  {{- toYaml . | nindent 0 }}
{{- end }}
{{- with $global.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $secrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- /*
Whether somebody changed the Config by hand since values were last written to it.
*/}}
{{- define "gangline.changed" -}}
{{- $config := lookup "kai.scheduler/v1" "Config" "" "kai-config" }}
{{- $mark := dig "metadata" "annotations" "gangline.io/values" "" $config }}
{{- if and $mark (ne $mark (toJson ($config.spec | default dict) | sha256sum)) }}yes{{ end }}
{{- end }}
