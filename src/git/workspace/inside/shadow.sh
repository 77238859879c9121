# Snapshots of a workspace, taken by a git that the agent cannot reach: its files are seen read-only at $files, all that git writes is in
# $shadow. $mirror and $kept are bare repositories whose objects are borrowed ("" for none). Of the workspace's own git only HEAD is
# believed, and what that names is copied object by object. Attributes of the workspace turn nothing into anything else: bytes are bytes.
export GIT_DIR=$shadow GIT_WORK_TREE=$files GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1 GIT_NO_REPLACE_OBJECTS=1
export GIT_TERMINAL_PROMPT=0 GIT_LITERAL_PATHSPECS=0 LC_ALL=C
cd -- "$files" || exit 1
