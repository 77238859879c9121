# Process 1 of a sandbox: KIND PROCESSES FILE_KIB ADDRESS_SPACE_KIB NICENESS [PORT[=SOCKET]…]. The host asks over descriptor 3 and hears over 4, which
# nothing else inside can open; commands never inherit them. Process 1 cannot be killed or stopped from inside, and when it ends everything ends.
# It ends when the host process does.
#
#   shell SLOT               start the persistent shell, which takes its commands from SLOT.requests
#   run SLOT STDIN STDERR END
#                            run SLOT.command beside it; STDIN is a file's name or "-", STDERR is a pipe's name or "-" (with the output), END is
#                            what follows a complete command in its file; NUL ends both
#   clear                    kill everything in here
#   kill JOB SINCE           kill what JOB ("shell" or a slot) started since SINCE hundredths of a second after "ready"; answered "killed JOB"
#
# Output and status go to named pipes that the host made and reads. The keeper of a job holds its status pipe until the job has ended,
# so that the host sees the end of the pipe even when everything in here was killed at once. The shell holds its own as well, on
# descriptor 9: when only its keeper was killed it goes on, and the host never mistakes the end of the one for the end of the other.
#
# KIND "bubblewrap": 3 is a socket for both ways, the kernel counts the processes of each sandbox apart, the host takes the ports over, and
# ends us itself when it is frozen.
# KIND "container": two pipes, which the host removes before anything of the agent runs; all sandboxes are one user to the kernel, so that
# process 1 looks itself whether it may start another process; the ports are a process of their own; and the host says "." each second.
# KIND "pod": a container of which the host sees no control groups. Process 1 bounds its processes and tells what they take, each second.
exec </dev/null >/dev/null 2>&1
# Exports the variables of commands in a container. The engine does not get them, because it shows them to every client of its API. The code
# below overrides the names that it uses itself.
[[ $1 != bubblewrap ]] &&
  while IFS= read -r -d '' __pair; do [[ $__pair == IFS=* ]] || export "$__pair"; done </run/exec/control.environment
kind=$1 processes=$2 file_kib=$3 address_space_kib=$4 niceness=$5 at=/run/exec
ports=("${@:6}") unbounded=
[[ $kind == pod ]] && unbounded=yes kind=container
# What engines put into it.
export -n HOSTNAME container
# Whatever else the host process was started with; 255 is this script, 7 the channel over which the host gets the ports.
for fd in /proc/self/fd/*; do
  fd=${fd##*/}
  [[ $kind == container && $fd == 3 ]] || ((fd > 3 && fd != 255 && (fd != 7 || ${#ports[@]} == 0))) && exec {fd}>&-
done
if [[ $kind == container ]]; then
  # Held open both ways at first: nobody waits for a host process that has ended meanwhile.
  exec 5<>"$at/control.requests" 3<"$at/control.requests" 6<>"$at/control.answers" 4>"$at/control.answers" 5>&- 6>&- 8<>"$at/control.clock"
else
  exec 4>&3
fi
bash=(/bin/bash --noprofile --norc)
ulimit -c 0 -f "$file_kib" -v "$address_space_kib"
# Signals that wait and message queues, of which all sandboxes together have as many as one user; the kernel counts them for each apart too.
[[ $kind == bubblewrap ]] && ulimit -i 2048 -q 102400
# The agent may use up its processes: what the host asks for has a reserve beyond them.
[[ $kind == bubblewrap ]] && ulimit -u $((processes + 32))
if [[ $kind == bubblewrap ]] && ((${#ports[@]})); then
  for port in "${ports[@]}"; do
    # Told as a Node tells its parent. The channel stays open in bubblewrap when we close it, so the host would not hear that it failed.
    /run/init/listen "$port" "{\"cmd\":\"NODE_HANDLE\",\"type\":\"net.Server\",\"msg\":\"$port\"}"$'\n' 3>&- 4>&- || echo '"failed"' >&7
  done
  exec 7>&-
fi
# Children get process groups of their own, and bash does not make them ignore interrupts.
set -m
# Only now: the kernel limits the descriptors in flight per user by this value. All sandboxes are one user, and descriptors that one of them
# keeps in flight must not prevent another from sending its ports to the host.
ulimit -n 4096

start_shell() {
  (
    exec 9>"$at/$1.status"
    (
      exec <"$at/$1.requests" >/dev/null
      [[ $kind == bubblewrap ]] && ulimit -u "$processes"
      # Whatever the agent starts shall not keep this process, nor the host, from working.
      exec /usr/bin/nice -n "$niceness" bash "${bash[@]:1}" -s
    )
    echo "exit $?" >&9
  ) 3>&- 4>&- 8>&- &
  jobs_of[shell]=$!
}

start_command() {
  (
    exec 9>"$at/$1.status"
    (
      { IFS= read -r -d '' command && IFS= read -r -d '' end; } <"$at/$1.command"
      if [[ $2 == - ]]; then exec </dev/null; else exec <"$at/$2"; fi
      exec >"$at/$1.output" 9>&-
      if [[ $3 == - ]]; then exec 2>&1; else exec 2>"$at/$3"; fi
      [[ $end == "$4" ]] || { echo 'bash: the command is incomplete' >&2; exit 126; }
      [[ $kind == bubblewrap ]] && ulimit -u $((processes + 16))
      # One argument may have 128 KiB.
      ((${#command} < 30000)) && exec "${bash[@]}" -c -- "$command" bash
      exec "${bash[@]}" -c 'IFS= read -r -d "" REPLY <"$1"; shift; eval -- "$REPLY"' bash "$at/$1.command"
    )
    echo "exit $?" >&9
  ) 3>&- 4>&- 8>&- &
  jobs_of[$1]=$!
}

# Joins the ports with their sockets, again when it was killed from inside. What it says, once it listens, the host hears the first time.
start_bridge() {
  local report=/dev/null
  [[ -p $at/control.ports ]] && report=$at/control.ports
  env -i /opt/node/bin/node /run/init/bridge.cjs "${ports[@]}" 3>&- 4>&- 8>&- </dev/null >"$report" &
  jobs_of[bridge]=$!
}

# Wakes process 1 every two seconds, which otherwise waits only for the host. Signals from other processes do no harm.
start_clock() {
  (while :; do
    read -r -t 2 -u 8
    kill -USR1 1
  done) 3>&- 4>&- &
  jobs_of[clock]=$!
}

# Detects a frozen host process by five waits without a message. Five, because a process 1 that got no CPU time itself then still reads the
# messages that arrived meanwhile.
heard() {
  read -r heard_at _ </proc/uptime
  heard_at=${heard_at/./} ticked_at=$heard_at waits=0
}
tick() {
  local now
  read -r now _ </proc/uptime
  now=${now/./}
  ((now - ticked_at < 150)) && return
  ticked_at=$now
  ((++waits >= 5)) && exit
}

# What was killed from inside, or stopped.
keep_up() {
  if jobs '%?-u 8' >/dev/null; then
    kill -CONT "${jobs_of[clock]}"
  else
    make_room
    start_clock
  fi
  if ((${#ports[@]})) && ! jobs '%?bridge.cjs' >/dev/null; then
    make_room
    start_bridge
  fi
}

# A process that cannot be started keeps bash waiting for seconds, and this one must never wait: what has used up the processes goes first.
make_room() {
  local attempt file line count
  local -a fields
  for attempt in {1..200}; do
    count=0
    for file in /proc/[1-9]*/stat; do
      line=
      IFS= read -r -d '' line <"$file"
      read -r -a fields <<<"${line##*)}"
      ((count += ${fields[17]:-0}))
    done
    ((count < processes + 24)) && return
    kill -9 -1
  done
}

# What everything in here takes: bytes of memory now and at most, processes that were killed for it, microseconds of processors.
tell_usage() {
  local now=0 peak=0 kills=0 cpu=0 name value group=/sys/fs/cgroup
  if [[ -r $group/memory.current ]]; then
    read -r now <$group/memory.current
    read -r peak <$group/memory.peak
    while read -r name value; do [[ $name == oom_kill ]] && kills=$value; done <$group/memory.events
    while read -r name value; do [[ $name == usage_usec ]] && cpu=$value; done <$group/cpu.stat
  else
    read -r now <$group/memory/memory.usage_in_bytes
    read -r peak <$group/memory/memory.max_usage_in_bytes
    while read -r name value; do [[ $name == oom_kill ]] && kills=$value; done <$group/memory/memory.oom_control
    read -r cpu <$group/cpuacct/cpuacct.usage
    cpu=$((cpu / 1000))
  fi
  echo "usage ${now:-0} ${peak:-0} $kills $cpu" >&4
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
if [[ $kind == container ]]; then
  trap tick USR1
  heard
fi
[[ $unbounded ]] && tell_usage
echo ready >&4
while :; do
  # Forgets the jobs that have ended.
  jobs >/dev/null
  [[ $kind == container ]] && keep_up
  read -r -u 3 verb job first second third || exit
  [[ $kind == container ]] && heard
  case $verb in
    shell | run)
      [[ $kind == container ]] && make_room
      if [[ $verb == shell ]]; then start_shell "$job"; else start_command "$job" "$first" "$second" "$third"; fi
      ;;
    clear) kill -9 -1 ;;
    .) [[ $unbounded ]] && make_room && tell_usage ;;
    usage) tell_usage ;;
    kill) kill_job "$job" "$first"; echo "killed $job" >&4 ;;
  esac
done
