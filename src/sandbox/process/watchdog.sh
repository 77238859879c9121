# Ends the sandboxes of a process that sends nothing for SECONDS, as a frozen process does. Input, one message per line:
#
#   + PID STARTED    process 1 of a sandbox, and its start time from /proc
#   - PID            this sandbox has ended
#   .                nothing new
#
# Waits five times: a watchdog that got no CPU time itself then still reads the messages that arrived meanwhile.
seconds=$1 waits=0
declare -A started=()
while :; do
  read -r -t "$((seconds / 5))" word pid at
  code=$?
  if ((code == 0)); then
    waits=0
    case $word in
      +) started[$pid]=$at ;;
      -) unset "started[$pid]" ;;
    esac
    continue
  fi
  # The end of that process is the end of its sandboxes.
  ((code > 128)) || exit
  ((++waits < 5)) && continue
  waits=0
  for pid in "${!started[@]}"; do
    line=
    IFS= read -r -d '' line <"/proc/$pid/stat"
    read -r -a fields <<<"${line##*)}"
    # A number may be another process by now.
    [[ ${fields[19]} == "${started[$pid]}" ]] && kill -9 "$pid"
  done
  started=()
done 2>/dev/null
