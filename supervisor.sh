#!/bin/bash
# Starts the service and restarts it after a crash. A shell, because it stays as long as the service does: Node takes 45 MiB more. The service is
# two processes, one that serves the API and one that works on runs; with another role than `all` it is one. A process writes to descriptor 3:
# "ready", and for how many seconds it counts as alive. One that stopped without an error, that was
# requested to stop, or that never became ready (its configuration is wrong, its port is in use: it has reported that) is not restarted.
cd "$(dirname "$(readlink -f "$0")")" || exit
MAX_RESTARTS=10 FIRST_DELAY=1 MAX_DELAY=30 STABLE=60
first_parent=$PPID parent_name=${npm_execpath-}
oom_kills=0 counted_at=0
# `name`: what `child` is in messages. `with_worker`: whether this shell starts another one, `worker`, that supervises the process that works.
name='the service' child='' worker='' with_worker='' worker_ended_first=''
# The log may lose its reader; the service goes on.
trap '' PIPE
exec 4>&1

say() { echo "agentrun: $1" >&2; }

on_signal() {
  stop_requested=$1
  [[ $worker ]] && kill -s TERM "$worker" 2>/dev/null
  if [[ $child ]]; then
    kill -s "$1" "$child"
  else
    await_worker
    exit $((128 + $2))
  fi
}
trap 'on_signal HUP 1' HUP
trap 'on_signal INT 2' INT
trap 'on_signal TERM 15' TERM

# Starts a program whose descriptor 3 we read from ours.
start() {
  exec 3< <(exec "$@" 3>&1 1>&4 4>&-)
  child=$!
}

# Sets `code`. A signal ends `wait` before the child has ended.
await_child() {
  while wait "$child"; code=$?; kill -0 "$child" 2>/dev/null; do :; done
  child=
}

# Waits for the end of the shell that supervises the worker, if there is one; sets `worker_code`.
await_worker() {
  worker_code=0
  [[ $worker ]] || return
  while wait "$worker"; worker_code=$?; kill -0 "$worker" 2>/dev/null; do :; done
  worker=
}

# SIGKILL of npm, or of the shell that started this one, reaches nobody else.
stop_with_parent() {
  [[ $parent_name && ! ${stop_requested-} ]] || return
  read -r _ _ _ parent _ <"/proc/$BASHPID/stat"
  [[ $parent == "$first_parent" ]] || on_signal TERM 15
}

# Both stop when one of them is not restarted: who started this shell may then start both again.
stop_with_worker() {
  [[ $worker && ! ${stop_requested-} ]] || return
  kill -0 "$worker" 2>/dev/null && return
  worker_ended_first=1
  on_signal TERM 15
}

# Sets `oom_kills`: how many processes of the machine the kernel has killed for want of memory. Starts no process.
count_oom_kills() {
  local all=
  IFS= read -r -d '' all </proc/vmstat
  [[ $all =~ oom_kill\ ([0-9]+) ]] && oom_kills=${BASH_REMATCH[1]}
}

# Whether the service died of what it worked on: by a crash, as V8 ends a process whose heap is full, or by the kernel for want of memory.
# SIGKILL may be of an operator. The kernel's count may be of a sandbox: then its runs continue one by one, and nothing is lost.
has_crashed() {
  case $code in
    132 | 133 | 134 | 135 | 136 | 139) return 0 ;;
    137) count_oom_kills && ((oom_kills > earlier_oom_kills)) ;;
    *) return 1 ;;
  esac
}

# Reads what the service reports until it has ended; sets `ready_at`. Counts seconds without a report rather than by the clock, so that a
# machine that slept does not count.
follow() {
  local seconds_left=0 word seconds read_code
  ready_at=
  while :; do
    read -r -t 1 -u 3 word seconds
    read_code=$?
    stop_with_parent
    stop_with_worker
    if ((SECONDS - counted_at >= 5)); then
      earlier_oom_kills=$oom_kills counted_at=$SECONDS
      count_oom_kills
    fi
    if ((read_code == 0)); then
      [[ $word == ready ]] && ready_at=$SECONDS
      [[ $word == ready && $with_worker && ! $worker ]] && start_worker
      [[ $word == alive ]] && seconds_left=$seconds
    elif ((read_code < 128)); then
      return
    elif ((seconds_left > 0 && --seconds_left == 0)); then
      say "$name is stuck: it stopped reporting and is killed"
      kill -s KILL "$child"
    fi
  done
}

start node boot.cjs prepare
read -r -u 3 node
await_child
[[ ${stop_requested-} ]] && exit $((128 + $(kill -l "$stop_requested")))
((code == 0)) || exit "$code"
# Node keeps what it compiled, TypeScript's types taken out: the next start takes two thirds of the time and less memory.
export NODE_COMPILE_CACHE=$PWD/node_modules/.compile-cache PATH=${node%/*}:$PATH SUPERVISOR_DESCRIPTOR=3

# JavaScript in the npm package of the service.
main=src/main.ts
[[ -e $main ]] || main=src/main.js

# Runs a role of the service until it is not restarted; sets `code`.
supervise() {
  local crashes=1 delay=$FIRST_DELAY was_ready='' stable crashed cause pid
  for (( ; ; crashes++)); do
    # Young objects in 16 MiB: three times that, Node's default, is kept for ever and saves nothing here.
    start "$node" --expose-gc --max-semi-space-size=8 "$main" "$@"
    pid=$child
    follow
    await_child
    # The next process that is ready has recorded that the runs of the one that crashed may be the cause.
    crashed=
    has_crashed && crashed=$pid
    [[ $ready_at || ! ${SUPERVISOR_CRASHED_PID-} ]] && export SUPERVISOR_CRASHED_PID=$crashed
    was_ready=$was_ready$ready_at
    [[ $code == 0 || ${stop_requested-} || ! $was_ready ]] && return
    # One that was killed, because it was stuck or took the memory of the machine, counts for longer: the run that did it may continue.
    stable=$STABLE
    [[ $code == 137 || $crashed ]] && stable=$((10 * STABLE))
    [[ $ready_at ]] && ((SECONDS - ready_at >= stable)) && crashes=1 delay=$FIRST_DELAY
    cause="exit code $code"
    ((code > 128)) && cause="signal SIG$(kill -l "$code")"
    if ((crashes > MAX_RESTARTS)); then
      say "$name ended by $cause; it is not restarted, because it ended $crashes times in a row"
      return
    fi
    say "$name ended by $cause; restart $crashes of $MAX_RESTARTS in $delay s"
    # Nothing is written to this pipe; a signal exits.
    read -r -t "$delay" <> <(:)
    delay=$((delay * 2 < MAX_DELAY ? delay * 2 : MAX_DELAY))
  done
}

# Supervises the worker in a shell of its own, once the process that serves has started and migrated its database.
start_worker() {
  (
    trap 'on_signal HUP 1' HUP
    trap 'on_signal TERM 15' TERM
    first_parent=$$ parent_name=supervisor name='the worker' child='' with_worker=''
    unset SUPERVISOR_CRASHED_PID
    supervise work
    exit "$code"
  ) &
  worker=$!
}

count_oom_kills
earlier_oom_kills=$oom_kills
if [[ $# -gt 0 && $* != all ]]; then
  supervise "$@"
  exit "$code"
fi
export SUPERVISOR_PAIR=1
name='the API' with_worker=1
supervise serve
[[ $worker ]] && kill -s TERM "$worker" 2>/dev/null
await_worker
[[ $worker_ended_first ]] && code=$worker_code
exit "$code"
