#!/usr/bin/env bash
# Starts a run, prints its steps as they happen, and writes its outcome to GITHUB_OUTPUT. Ends with 0 only for a completed
# run that did everything that was requested, with 5 for one that did not.
set -uo pipefail

[[ $AGENTRUN_ORG ]] || unset AGENTRUN_ORG
agentrun=(agentrun)
command -v agentrun >/dev/null || agentrun=(npx --yes "agentrun@$AGENTRUN_VERSION")
options=()
[[ $RUN_REPOSITORY ]] && options+=(--repo "$RUN_REPOSITORY")
[[ $RUN_BASE ]] && options+=(--base "$RUN_BASE")
[[ $RUN_MODEL ]] && options+=(--model "$RUN_MODEL")

trace=$(mktemp)
trap 'rm -f "$trace"' EXIT
# Names of steps only: a text of the agent could contain commands of the workflow.
follow() {
  printf '%s' "$RUN_PROMPT" | "${agentrun[@]}" run - --follow --json "${options[@]}" | tee "$trace" |
    jq --unbuffered -r 'select(.message_type) | "\(.seq) \(.message_type) \(.tool_name // "")"'
  return "${PIPESTATUS[1]}"
}

# A workflow that is cancelled stops its run, which would go on and cost. The stream then ends with the run.
cancelled=
cancel() {
  local id
  cancelled=1
  id=$(head -n 1 "$trace" | jq -r '.agent_run_id // empty')
  if [[ $id ]]; then "${agentrun[@]}" stop "$id"; else exit 130; fi
}
trap cancel INT TERM
follow &
wait $!
code=$?
if [[ $cancelled ]]; then
  trap '' INT TERM
  wait $!
  code=130
fi
# The last line is the run, or the problem that prevented it.
run=$(tail -n 1 "$trace")
if ! jq -e 'has("terminal")' <<<"$run" >/dev/null 2>&1; then
  echo 'No run was started.' >&2
  exit "$((code == 0 ? 1 : code))"
fi

write_output() {
  local end
  end=$(tr -d - </proc/sys/kernel/random/uuid)
  printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$(jq -r "$2" <<<"$run")" "$end" >>"$GITHUB_OUTPUT"
}
write_output id .id
write_output status .status
write_output status_reason '.status_reason // ""'
write_output result .result
write_output web_url .web_url
write_output pull_request_url '.github_pull_requests[-1].url // ""'
echo "Run $(jq -r '"\(.id) is \(.status)\(if .status_reason then " (\(.status_reason))" else "" end): \(.web_url)"' <<<"$run")"
exit "$code"
