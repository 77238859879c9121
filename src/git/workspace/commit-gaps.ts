/**
 * A change of the workspace that its commit lacks, or has in another form. `submodule`: in the folder of a
 * submodule; `flagged`: of a file that is marked as assume-unchanged or skip-worktree; `unreadable`: of what
 * cannot be read; `lfs`: a commit has the content of a file that Git LFS stores.
 */
export type CommitGap = { kind: 'submodule' | 'flagged' | 'unreadable' | 'lfs'; path: string }

const MAX_GAPS = 20
const POINTER = 'version https://git-lfs.github.com/spec/v1'

/**
 * Shell functions that stage everything and then report gaps, from the list `entries` of the index and of
 * files that are new: it is all that it costs where there is nothing to report. A path with a line break is
 * left out.
 */
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: these are variables of the shell
export const GAPS = [
  'gaps=0',
  'gap() {',
  `  if [ "$gaps" -lt ${MAX_GAPS} ] && [[ $2 != *$'\\n'* ]]; then gaps=$((gaps + 1)); printf 'agentrun-gap %s %s\\n' "$1" "\${2:0:300}"; fi`,
  '}',
  'stage() { added=0; complaints=$(exec git "${SAFE[@]}" add --all --ignore-errors . 2>&1) || added=$?; printf "%s\\n" "$complaints"; }',
  'unread_gaps() {',
  '  local line',
  '  while IFS= read -r line; do',
  `    if [[ $line =~ ^(warning:\\ could\\ not\\ open\\ directory|error:\\ unable\\ to\\ index\\ file)\\ \\'(.*)\\' ]]; then gap unreadable "\${BASH_REMATCH[2]}"; fi`,
  '  done <<<"$complaints"',
  '}',
  // A tag in lower case is assume-unchanged, S is skip-worktree.
  'find_gaps() {',
  '  local entry path flagged=() stored=() now=() attributes=() n value',
  '  for entry in "${entries[@]}"; do',
  `    if [[ $entry = '? '* ]]; then path="\${entry#??}"; else path="\${entry#*$'\\t'}"; fi`,
  '    case $entry in',
  '      [!?]" 160000 "*) if submodule_changed "$path" "$1"; then gap submodule "$path"; fi ;;',
  `      [a-zS]" 100"*) flagged_entry "$entry" "$path" ;;`,
  '    esac',
  '    if [[ $path = *.gitattributes ]]; then attributes+=("$path"); fi',
  '  done',
  '  unread_gaps',
  '  if [ "${#flagged[@]}" -gt 0 ]; then',
  `    mapfile -t now < <(printf '%s\\n' "\${flagged[@]}" | g hash-object --stdin-paths 2>/dev/null)`,
  '    for n in "${!flagged[@]}"; do if [ "${now[$n]-}" != "${stored[$n]}" ]; then gap flagged "${flagged[$n]}"; fi; done',
  '  fi',
  '  if [ "${#attributes[@]}" -gt 0 ] && grep -qs filter=lfs -- "${attributes[@]}"; then lfs_gaps "$1"; fi',
  '}',
  // Only skip-worktree means that the file need not be there. What has another type or mode is changed
  // whatever its content.
  'flagged_entry() {',
  '  local fields mode=644',
  '  if [ ! -e "$2" ] && [ ! -L "$2" ]; then if [[ $1 = h* ]]; then gap flagged "$2"; fi; return 0; fi',
  '  if [ -x "$2" ]; then mode=755; fi',
  '  read -r -a fields <<<"$1"',
  '  if [ ! -f "$2" ] || [ -L "$2" ] || [ "${fields[1]}" != "100$mode" ]; then gap flagged "$2"; return 0; fi',
  '  flagged+=("$2"); stored+=("${fields[2]}")',
  '}',
  // Without its own repository, git takes any content of the folder for unchanged. With one, the commit names
  // another commit of it, which nobody can fetch unless its remote has it.
  'submodule_changed() {',
  '  if [ ! -e "$1/.git" ]; then [ -n "$(ls -A -- "$1" 2>/dev/null)" ]; return; fi',
  '  if [ -n "$(g diff --name-only --ignore-submodules=none -- "$1" 2>/dev/null)" ]; then return 0; fi',
  '  if g diff --quiet "$2" HEAD -- "$1" 2>/dev/null; then return 1; fi',
  '  [ -z "$(unset GIT_DIR GIT_WORK_TREE; g -C "$1" for-each-ref --count=1 --contains=HEAD refs/remotes refs/tags 2>/dev/null)" ]',
  '}',
  // Every version of a file in a new commit, not only that of the last one: the remote gets all of them. Git
  // LFS stores an empty file as one.
  'lfs_gaps() {',
  '  local meta path value n=0',
  '  local -a metas=() paths=() ids=() named=()',
  '  local -A seen=() pointers=()',
  `  while IFS= read -r -d '' meta && IFS= read -r -d '' path; do`,
  '    if [[ $meta =~ 100[0-7]{3}\\ [0-9a-f]{40} ]]; then metas+=("${meta% *}"); paths+=("$path"); fi',
  '  done < <(',
  '    g diff-tree -r -z --no-renames --diff-filter=d "$1" HEAD',
  '    g rev-list HEAD "^$1" --not --alternate-refs | g diff-tree --stdin -c -r -z --root --no-commit-id --no-renames --diff-filter=d',
  '  )',
  '  if [ "${#paths[@]}" -eq 0 ]; then return; fi',
  `  while IFS= read -r -d '' path && IFS= read -r -d '' _ && IFS= read -r -d '' value; do`,
  '    if [ "$value" = lfs ]; then ids+=("${metas[n]##* }"); named+=("$path"); fi',
  '    n=$((n + 1))',
  `  done < <(printf '%s\\0' "\${paths[@]}" | g check-attr -z --stdin filter)`,
  '  if [ "${#ids[@]}" -gt 0 ]; then find_pointers; fi',
  '  for n in "${!ids[@]}"; do',
  '    path="${named[n]}"',
  '    if [ -z "${seen[$path]-}" ] && [ -z "${pointers[${ids[n]}]-}" ]; then seen[$path]=1; gap lfs "$path"; fi',
  '  done',
  '}',
  // Two processes for all versions: a branch may have thousands. A pointer is smaller than 1 KiB. No content
  // can have the mark of the lines before contents, which is chosen after it.
  'find_pointers() {',
  `  local id size line mark="agentrun-$RANDOM$RANDOM$RANDOM$RANDOM" start=''`,
  '  local -a small=()',
  '  while read -r id size; do',
  '    if [ "$size" = 0 ]; then pointers[$id]=1; elif [[ $size =~ ^[0-9]+$ && $size -lt 1024 ]]; then small+=("$id"); fi',
  `  done < <(printf '%s\\n' "\${ids[@]}" | sort -u | g cat-file --batch-check='%(objectname) %(objectsize)')`,
  '  if [ "${#small[@]}" -eq 0 ]; then return; fi',
  '  while IFS= read -r line; do',
  '    if [[ $line = "$mark "* ]]; then start="${line#* }"; continue; fi',
  `    if [ -n "$start" ] && [[ $line = '${POINTER}'* ]]; then pointers[$start]=1; fi`,
  `    start=''`,
  `  done < <(printf '%s\\n' "\${small[@]}" | g cat-file --batch="$mark %(objectname)" 2>/dev/null)`,
  '}',
]
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: these are variables of the shell

/** Parses the reports within the output of a commit. */
export const parseGaps = (output: string): CommitGap[] =>
  [...output.matchAll(/^agentrun-gap (submodule|flagged|unreadable|lfs) ([^\n]+)$/gm)].map(
    ([, kind, path = '']) => ({
      kind: kind as CommitGap['kind'],
      path,
    }),
  )
