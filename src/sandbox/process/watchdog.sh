# Ends the sandboxes of a process that says nothing for SECONDS: one that is frozen cannot. It says, a line each:
#
#   + PID STARTED    process 1 of a sandbox, and when it was started as /proc tells it
#   - PID            this one has ended
#   .                nothing new
#
# In five waits: whoever gets no time itself hears, at the next one, what was said long ago.
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
