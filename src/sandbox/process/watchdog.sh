# Ends the sandboxes of the process that started it when that one is frozen: when none of its threads has run for SECONDS. An event loop that is
# occupied is not frozen: it uses the processor. Input, one message per line:
#
#   + PID STARTED    process 1 of a sandbox, and its start time from /proc
#   - PID            this sandbox has ended
#
# Checks five times in SECONDS: a watchdog that got no CPU time itself does not take that for silence of the other one.
seconds=$1 silent=0 switches=
declare -A started=()

# Sets `sum`: how often the threads of the process were put on a processor or taken off it.
count_switches() {
  sum=0
  local file name count
  for file in /proc/"$PPID"/task/*/status; do
    while read -r name count; do [[ $name == *ctxt_switches: ]] && ((sum += count)); done <"$file"
  done
}

check() {
  count_switches
  [[ $sum == "$switches" ]] && ((++silent)) || silent=0
  switches=$sum
  ((silent < 5)) && return
  for pid in "${!started[@]}"; do
    line=
    IFS= read -r -d '' line <"/proc/$pid/stat"
    read -r -a fields <<<"${line##*)}"
    # A number may be another process by now.
    [[ ${fields[19]} == "${started[$pid]}" ]] && kill -9 "$pid"
  done
  started=() silent=0
}

while :; do
  # Without sandboxes it waits for the first one.
  wait=()
  ((${#started[@]})) && wait=(-t "$((seconds / 5))")
  read -r "${wait[@]}" word pid at
  code=$?
  if ((code == 0)); then
    case $word in
      +) started[$pid]=$at ;;
      -) unset "started[$pid]" ;;
    esac
  # The end of that process is the end of its sandboxes.
  elif ((code > 128)); then check
  else exit
  fi
done 2>/dev/null
