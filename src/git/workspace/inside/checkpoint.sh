shopt -s nullglob dotglob

# $without: paths that are left out, as git wants them. "clone": the files are a fresh checkout of commit $2, with tree $3, by our own hand. "tree": they
# should be tree $2. "empty": nothing is known of them. Sets `fresh` to the tree that the files are certain to have.
prepare() {
  # Whatever its size, no file may fill the disk.
  ulimit -f $((max_file_bytes / 1024 + 262144))
  mkdir -p "$shadow"/objects/{info,pack} "$shadow"/{refs,info} || return
  fresh=
  local -a earlier=("$shadow"/index*)
  if ((${#earlier[@]})); then rm -f -- "${earlier[@]}"; fi
  printf 'ref: refs/heads/none\n' >"$shadow/HEAD"
  printf '%s' "$without" >"$shadow/info/exclude"
  printf '* -text -eol -crlf -ident -filter !working-tree-encoding\n' >"$shadow/info/attributes"
  printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfileMode = true\n\tsymlinks = true\n\tignoreCase = false\n\tautocrlf = false
\texcludesFile = /dev/null\n\tattributesFile = /dev/null\n\thooksPath = /dev/null\n\tfsmonitor = false\n\tuntrackedCache = false\n\tsplitIndex = false
\tprotectHFS = true\n\tprotectNTFS = true\n\tfsync = none\n\tlooseCompression = 1\n\tbigFileThreshold = 16m\n\tlogAllRefUpdates = false
[pack]\n\tthreads = 1\n\twindowMemory = 128m\n[gc]\n\tauto = 0\n[advice]\n\taddEmbeddedRepo = false\n' >"$shadow/config"
  : >"$shadow/objects/info/alternates"
  local from
  for from in "$mirror" "$kept"; do
    if [[ $from ]]; then printf '%s/objects\n' "$from" >>"$shadow/objects/info/alternates"; fi
  done
  if [[ $mirror && -f $mirror/shallow ]]; then cp -- "$mirror/shallow" "$shadow/shallow"; fi
  case $1 in
    clone)
      # What our own git knows of the files it has just written, unless they have other bytes than the objects: then every file is looked at.
      if [[ -f $files/.git/index ]] && cp -p -- "$files/.git/index" "$shadow/index"; then fresh=$3; else git read-tree "$2" || return; fi ;;
    tree) git read-tree "$2" && git update-index -q --refresh >/dev/null 2>&1 ;;
  esac
  local entry path
  local -a attributes=()
  git ls-files -s -z | grep -z -E $'^160000 |[/\t]\\.gitattributes$' >"$shadow/listed"
  while IFS= read -r -d '' entry; do
    path=${entry#*$'\t'}
    if [[ $entry == '160000 '* ]]; then printf '%s\0' "$path"; else attributes+=("$path"); fi
  done <"$shadow/listed" >"$shadow/submodules"
  if [[ $fresh ]] && ((${#attributes[@]})) && grep -qsE 'eol=crlf|ident|working-tree-encoding' -- "${attributes[@]}"; then
    fresh=
    rm -f -- "$shadow/index"
    git read-tree "$2"
  fi
}

# Sets `head` and `branch` to those of the workspace; "none" and "" when unknown.
read_head() {
  head=none branch=
  local git=$files/.git line= ref sha name
  # Git makes no links of these. One may lead to a file of the kernel, which has no end.
  [[ -d $git && ! -L $git && -f $git/HEAD && ! -L $git/HEAD ]] || return 0
  IFS= read -r -n 4096 line <"$git/HEAD"
  if [[ $line == 'ref: refs/heads/'* && $line != *..* ]]; then
    ref=${line#ref: } branch=${line#ref: refs/heads/} line=
    if [[ -f $git/$ref ]]; then
      IFS= read -r -n 4096 line <"$git/$ref"
    elif [[ -f $git/packed-refs && ! -L $git/packed-refs ]]; then
      while read -r sha name; do if [[ $name == "$ref" ]]; then line=$sha; fi; done < <(grep -F -- " $ref" "$git/packed-refs")
    fi
  fi
  if [[ $line =~ ^[0-9a-f]{40}$ ]]; then head=$line; fi
}

# Copies the commits that lead to `head` out of the workspace's own repository, checked one by one; `head` is "none" when they are not sound.
# $1: a commit that is known already, or "none".
take_head() {
  local known=() commit
  for commit in "$base" "$1"; do if [[ $commit && $commit != none ]]; then known+=("^$commit"); fi; done
  printf '%s\n' "$head" "${known[@]}" |
    GIT_ALTERNATE_OBJECT_DIRECTORIES=$files/.git/objects timeout -k 1 20 git pack-objects --revs --stdout --quiet --delta-base-offset 2>/dev/null |
    git index-pack --stdin "--strict=$relaxed" "--max-input-size=$max_bytes" >/dev/null 2>&1
  git rev-list --objects --quiet "$head" "${known[@]}" -- >/dev/null 2>&1 || head=none
}

# A repository within the workspace would be taken as a link and its files lost. With one of its files in the index git takes it as a folder.
# $1: its path. Returns 1 when there is no file in it.
open_nested() {
  local path
  while IFS= read -r -d '' path; do
    if [[ $path == */ ]]; then
      open_nested "$1/${path%/}" && return 0
    else
      git update-index --force-remove -- "$1" 2>/dev/null
      git update-index --add --replace --cacheinfo "100644,$no_bytes,$1/$path" && return 0
    fi
  done < <(cd -- "$files/$1" && GIT_WORK_TREE=$files/$1 GIT_INDEX_FILE=$shadow/no-index git ls-files -z -o --exclude-standard 2>/dev/null)
  return 1
}

# $1, $2: head and tree of the snapshot before; a tree "none" is always named. $3: "small" if no file is too large. Says when the files may change
# again, then what was captured, unless it is the same.
snapshot() {
  if [[ $fresh && $2 == none ]]; then
    left=() large=() written_at=$EPOCHSECONDS
    read_head
    if [[ $head == "$1" ]]; then
      printf 'captured\0'
      report "$fresh" "$fresh"
      fresh=
      return
    fi
  fi
  fresh=
  capture || return
  printf 'captured\0'
  if [[ $changed || $head != "$1" || $2 == none ]]; then conclude "$2" "$1" "$3"; fi
}

# First half of a snapshot: when it has ended the files may change again. Sets `changed` and `head`.
capture() {
  local line
  changed= quick= left=() large=()
  if [[ -e $shadow/index.lock ]]; then rm -f -- "$shadow/index.lock"; fi
  read_head
  if [[ -s $shadow/submodules ]]; then open_submodules; fi
  if [[ ! $careful ]]; then
    # One process, and silence when nothing has changed.
    git add -A -v --ignore-errors >"$shadow/added" 2>"$shadow/complaints" || careful=1
    if [[ -s $shadow/complaints ]]; then careful=1; fi
    if [[ -s $shadow/added ]]; then changed=1 quick=1; fi
  fi
  if [[ $careful ]]; then
    if [[ $quick ]]; then
      while IFS= read -r line; do
        if [[ $line == "add '"*"/'" ]]; then line=${line#"add '"} && git update-index --force-remove -- "${line%"/'"}" 2>/dev/null; fi
      done <"$shadow/added"
    fi
    capture_carefully || return
    changed=1
    if ((${#left[@]} + ${#large[@]} == 0)); then careful=; fi
  elif [[ ! $changed ]] && ((written_at && EPOCHSECONDS > written_at + 1)); then
    # What was written in the same second as the index is read again each time; in an index of today it is not.
    git update-index --force-write-index
    written_at=0
  fi
}

# With nested repositories, files that are too large, and what may not be read.
capture_carefully() {
  local p i round opened
  local -a paths part
  rm -f -- "$shadow/index.lock"
  for round in 1 2 3 4 5 6 7 8; do
    git ls-files -z -m -o --exclude-standard >"$shadow/changed" 2>"$shadow/complaints" || return
    mapfile -d '' -t paths <"$shadow/changed"
    opened=
    for p in "${paths[@]}"; do if [[ $p == */ ]] && open_nested "${p%/}"; then opened=1; fi; done
    if [[ ! $opened ]]; then break; fi
  done
  if [[ -s $shadow/complaints ]]; then
    while IFS= read -r p; do if [[ $p =~ ^warning:\ could\ not\ open\ directory\ \'(.*)\': ]]; then left+=("unreadable:${BASH_REMATCH[1]}"); fi; done <"$shadow/complaints"
  fi
  find_large <"$shadow/changed"
  add_all
}

# Adds to `large` those of the files on standard input, with a NUL behind each, that are too large.
find_large() {
  local p
  while IFS= read -r -d '' p; do large+=("${p#./}"); done < <(
    sed -z 's#^#./#' | xargs -0 -r bash -c 'exec find "$@" -maxdepth 0 -type f -size "+${0}c" -print0' "$max_file_bytes" 2>/dev/null
  )
}

# Second half, beside whatever happens to the files now. $1, $2: tree and head of the snapshot before, or "none". $3: "small" if no file is too
# large. Says tree, head, branch and what had to be left out.
conclude() {
  local tree=$1 committed files_tree
  if [[ $quick && $3 != small ]]; then drop_large "$tree" || return; fi
  if [[ $changed || $tree == none ]]; then
    tree=$(git write-tree) || return
    written_at=$EPOCHSECONDS
  fi
  files_tree=$tree
  if [[ $head != "$2" && $head != none ]]; then
    committed=$(exec git rev-parse --quiet --verify "$head^{commit}^{tree}" 2>/dev/null) || take_head "$2"
    if [[ $head != none && $committed != "$tree" ]]; then tree=$(tracked_too "$tree") || return; fi
  fi
  report "$tree" "$files_tree"
}

# Says the tree $1, the one before ignored files of commits were added, `head`, `branch` and what had to be left out.
report() {
  printf 'agentrun-snapshot\0%s\0%s\0%s\0%s\0' "$1" "$2" "$head" "$branch"
  left+=("${large[@]/#/too_large:}")
  if ((${#left[@]})); then printf '%s\0' "${left[@]:0:100}"; fi
}

# What was taken in quickly was not looked at for its size. $1: the tree before.
drop_large() {
  local line
  local -a lines names=()
  mapfile -t -n 201 lines <"$shadow/added"
  for line in "${lines[@]}"; do
    if [[ $line == "add '"*"'" ]]; then
      line=${line#"add '"}
      names+=("./${line%"'"}")
    elif [[ $line != "remove '"*"'" ]]; then
      # A name of several lines.
      lines=()
      break
    fi
  done
  if ((${#lines[@]} == 0 || ${#lines[@]} > 200)); then
    if [[ $1 == none ]]; then git ls-files -z >"$shadow/names"; else git diff-index --cached --name-only -z "$1" >"$shadow/names"; fi || return
    find_large <"$shadow/names"
  elif ((${#names[@]})); then
    while IFS= read -r -d '' line; do large+=("${line#./}"); done < <(find "${names[@]}" -maxdepth 0 -type f -size "+${max_file_bytes}c" -print0 2>/dev/null)
  fi
  if ((${#large[@]} == 0)); then return 0; fi
  careful=1
  printf '%s\0' "${large[@]}" | git update-index -z --force-remove --stdin
}

# Submodules that have files by now.
open_submodules() {
  local p
  local -a part all
  mapfile -d '' -t all <"$shadow/submodules"
  for p in "${all[@]}"; do
    part=("$p"/*)
    if ((${#part[@]} == 0)) || beyond_link "$p" || ! open_nested "$p"; then printf '%s\0' "$p"; fi
  done >"$shadow/submodules"
}

# Runs a command with only its own standard output; git's errors are printed when it fails.
quietly() {
  local code=0
  "$@" 2>"$shadow/errors" || code=$?
  if ((code)); then head -c 2000 -- "$shadow/errors"; fi
  return "$code"
}

# Brings the index up to the files, but for `large` ones; what cannot be read is added to `left`.
add_all() {
  local p code=0 attempt
  local -a rest=()
  for attempt in 1 2; do
    code=0
    if ((${#large[@]})); then
      printf '%s\0' "${large[@]}" | git update-index -z --force-remove --stdin || return
      printf '%s\0' . "${large[@]/#/:(exclude,literal,top)}" |
        git add -A --ignore-errors --pathspec-from-file=- --pathspec-file-nul 2>"$shadow/complaints" || code=$?
    else
      git add -A --ignore-errors 2>"$shadow/complaints" || code=$?
    fi
    if ((code == 0)); then return 0; fi
  done
  if ((code > 1)); then
    cat -- "$shadow/complaints" >&2
    return "$code"
  fi
  # Not everything could be taken: what stays different is not a file, may not be read, has a name that git refuses, or is being written to.
  mapfile -d '' -t rest < <(git ls-files -z -m -o --exclude-standard 2>/dev/null)
  for p in "${rest[@]}"; do
    if [[ -L $p || ( -f $p && -r $p ) ]] && ! grep -qsiF -- "invalid path '$p'" "$shadow/complaints"; then continue; fi
    git update-index --force-remove -- "$p" 2>/dev/null
    if [[ -f $p ]]; then left+=("unreadable:$p"); fi
  done
}

# What the workspace has committed is kept even where it is ignored, and submodules are links. $1: the tree without it. Says the tree with it.
tracked_too() {
  local meta path part
  git diff-tree -r -z --diff-filter=A "$1" "$head" >"$shadow/tracked" || return
  if [[ ! -s $shadow/tracked ]]; then
    printf '%s\n' "$1"
    return
  fi
  while IFS= read -r -d '' meta && IFS= read -r -d '' path; do
    if beyond_link "$path"; then continue; fi
    if [[ $meta == ':000000 160000 '* && -d $path ]]; then
      part=("$path"/*)
      if ((${#part[@]} == 0)); then
        read -r _ _ _ meta _ <<<"$meta"
        git update-index --add --cacheinfo "160000,$meta,$path"
        printf '%s\0' "$path" >>"$shadow/submodules"
      fi
    elif [[ -f $path || -L $path ]]; then
      printf '%s\0' "$path"
    fi
  done <"$shadow/tracked" >"$shadow/tracked-files"
  git update-index -z --add --stdin <"$shadow/tracked-files" >/dev/null 2>&1
  git write-tree
}

# Whether a folder on the way to $1 is a link.
beyond_link() {
  local on=$1
  while [[ $on == */* ]]; do
    on=${on%/*}
    if [[ -L $on ]]; then return 0; fi
  done
  return 1
}
