/** Known error messages of bubblewrap, and the remedy for each. */
const remedies: { complaint: RegExp; remedy: string }[] = [
  {
    complaint:
      /No permissions to creat|Creating new namespace failed|creating new namespace|uid map|RTM_NEWADDR|Failed to make \/ slave/i,
    remedy:
      'the kernel forbids user namespaces to unprivileged users: allow them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0), and in a container run it with them allowed',
  },
  { complaint: /Unknown option|unrecognized option/i, remedy: 'bubblewrap 0.8.0 or newer is needed' },
  { complaint: /SECCOMP/i, remedy: 'the kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)' },
  {
    complaint: /Can't mount proc/i,
    remedy: 'a container that hides parts of /proc forbids a new one: run it with /proc unmasked',
  },
  {
    complaint: /^spawn .*\b(EACCES|EPERM)$/,
    remedy:
      'bubblewrap may not be executed by the sandbox user: check the permissions of the program and of every folder on the way to it, or reinstall the package "bubblewrap"',
  },
  // The C library runs a program for another architecture as a script, which fails with a syntax error of the
  // shell.
  {
    complaint: /^spawn .*\b(ENOENT|ENOEXEC)$|: \d+: Syntax error/,
    remedy: 'bubblewrap is not a program that this machine can run: reinstall the package "bubblewrap"',
  },
  {
    complaint: /source path|Permission denied/i,
    remedy: 'the sandbox user must be able to pass through every folder on the way to that path',
  },
]

/** Returns one line for the operator: bubblewrap's error and what to do. */
export function explainFailure(complaint: string): string {
  const line = complaint.replace(/\s+/g, ' ').trim()
  const known = remedies.find(remedy => remedy.complaint.test(line))
  return known ? `${known.remedy} (${line})` : line
}
