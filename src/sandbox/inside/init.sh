# Process 1 of a sandbox: PROCESSES FILE_KIB MEMORY_KIB NICENESS. The host asks over descriptor 3, a socket that nothing else inside can open;
# commands never inherit it. Process 1 cannot be killed or stopped from inside, and when it ends everything ends.
#
#   shell SLOT               start the persistent shell, which takes its commands from SLOT.requests
#   run SLOT STDIN STDERR    run SLOT.command beside it; STDIN is a file's name or "-", STDERR is a pipe's name or "-" (with the output)
#   kill JOB SINCE           kill what JOB ("shell" or a slot) started since SINCE hundredths of a second after "ready"; answered "killed JOB"
#
# Output and status go to named pipes that the host made and reads. The keeper of a job holds its status pipe until the job has ended,
# so that the host sees the end of the pipe even when everything in here was killed at once. The shell holds its own as well, on
# descriptor 9: when only its keeper was killed it goes on, and the host never mistakes the end of the one for the end of the other.
exec 2>/dev/null
# Whatever else the host process was started with; 255 is this script.
for fd in /proc/self/fd/*; do
  fd=${fd##*/}
  ((fd > 3 && fd != 255)) && exec {fd}>&-
done
processes=$1 file_kib=$2 memory_kib=$3 niceness=$4 at=/run/exec
bash=(/bin/bash --noprofile --norc)
ulimit -c 0 -n 4096 -f "$file_kib" -v "$memory_kib"
# The agent may use up its processes: what the host asks for has a reserve beyond them.
ulimit -u $((processes + 32))
# Children get process groups of their own, and bash does not make them ignore interrupts.
set -m

start_shell() {
  (
    exec 9>"$at/$1.status"
    (
      exec <"$at/$1.requests" >/dev/null
      ulimit -u "$processes"
      # Whatever the agent starts shall not keep this process, nor the host, from working.
      exec /usr/bin/nice -n "$niceness" bash "${bash[@]:1}" -s
    )
    echo "exit $?" >&9
  ) 3>&- &
  jobs_of[shell]=$!
}

start_command() {
  (
    exec 9>"$at/$1.status"
    (
      [[ -r $at/$1.command ]] || exit 126
      IFS= read -r -d '' command <"$at/$1.command"
      if [[ $2 == - ]]; then exec </dev/null; else exec <"$at/$2"; fi
      exec >"$at/$1.output" 9>&-
      if [[ $3 == - ]]; then exec 2>&1; else exec 2>"$at/$3"; fi
      ulimit -u $((processes + 16))
      # One argument may have 128 KiB.
      ((${#command} < 30000)) && exec "${bash[@]}" -c -- "$command" bash
      exec "${bash[@]}" -c 'IFS= read -r -d "" REPLY <"$1"; shift; eval -- "$REPLY"' bash "$at/$1.command"
    )
    echo "exit $?" >&9
  ) 3>&- &
  jobs_of[$1]=$!
}

# Sets `family`, oldest first, to the job's own processes (`core`: its keeper $1 and what that started) and to whatever came of them,
# or of nobody, since $2. What an earlier command of the shell left in the background is older, and stays with all that came of it.
find_family() {
  local file line pid top
  local -a fields parent=() group=() born=()
  local -A is_job=()
  for pid in "${jobs_of[@]}"; do is_job[$pid]=1; done
  for file in /proc/[1-9]*/stat; do
    pid=${file:6:-5} line=
    [[ $pid == 1 ]] && continue
    IFS= read -r -d '' line <"$file"
    # A process names itself as it likes: only what follows the last parenthesis counts.
    read -r -a fields <<<"${line##*)}"
    # A zombie with more threads than one is alive: its first thread ended before the others.
    [[ -z ${fields[0]} || ${fields[0]} == [ZX] && ${fields[17]} -le 1 ]] && continue
    parent[$pid]=${fields[1]} group[$pid]=${fields[2]} born[$pid]=${fields[19]}
  done
  if ((${#core[@]} == 0)); then
    core[$1]=1
    for pid in "${!parent[@]}"; do
      # Without a keeper, killed from inside, its group tells.
      [[ ${parent[$pid]} == "$1" || -z ${parent[$1]} && ${parent[$pid]} == 1 && ${group[$pid]} == "$1" ]] && core[$pid]=1
    done
  fi
  family=()
  for pid in "${!parent[@]}"; do
    top=$pid
    while [[ ${parent[${parent[$top]}]} && ! ${core[${parent[$top]}]} ]]; do top=${parent[$top]}; done
    if [[ ${core[$pid]} ]] || [[ ! ${is_job[$top]} && ${born[$top]} -ge $2 ]]; then family+=("$pid"); fi
  done
}

kill_job() {
  local family fresh pid attempt
  local -a all=(/proc/[1-9]*)
  local -A core=() killed=()
  for attempt in {1..4}; do
    ((${#all[@]} > processes * 3 / 4)) && break
    find_family "${jobs_of[$1]}" $((ready_at + $2))
    fresh=()
    for pid in "${family[@]}"; do
      [[ ${killed[$pid]} ]] || fresh+=("$pid")
      killed[$pid]=1
    done
    ((${#fresh[@]})) || return
    # Oldest first: a shell must be dead before its child is, or it goes on with what comes after it.
    kill -9 "${fresh[@]}"
  done
  # A fork bomb, or something that forks faster than it is found: everything goes at once.
  kill -9 -1
}

declare -A jobs_of=()
# In hundredths of a second, as the births of processes are.
read -r ready_at _ </proc/uptime
ready_at=${ready_at/./}
echo ready >&3
while read -r -u 3 verb job first second; do
  # Forgets the jobs that have ended.
  jobs >/dev/null
  case $verb in
    shell) start_shell "$job" ;;
    run) start_command "$job" "$first" "$second" ;;
    kill) kill_job "$job" "$first"; echo "killed $job" >&3 ;;
  esac
done
