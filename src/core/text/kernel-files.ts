/**
 * File systems of the kernel, by their numbers in linux/magic.h. What looks like a regular file there may
 * never end (`/proc/self/pagemap`), wait for events (`/proc/kmsg`) or change the process that writes it.
 */
const KERNEL_FILE_SYSTEMS = {
  proc: '9fa0',
  sysfs: '62656572',
  cgroup: '27e0eb',
  cgroup2: '63677270',
  debugfs: '64626720',
  tracefs: '74726163',
  securityfs: '73636673',
  configfs: '62656570',
  bpf: 'cafe4a11',
  devpts: '1cd1',
  mqueue: '19800202',
  selinux: 'f97cff8c',
  smack: '43415d53',
  pstore: '6165676c',
  efivarfs: 'de5e81e4',
  binfmt_misc: '42494e4d',
  resctrl: '7655821',
  nsfs: '6e736673',
  usbdevice: '9fa2',
}

/** Returns a bash command that succeeds when the path of `word`, or what it leads to, is of the kernel. */
export const isOfKernel = (word: string): string =>
  `case $(stat -f -L -c %t -- ${word} 2>/dev/null) in ${Object.values(KERNEL_FILE_SYSTEMS).join('|')}) true ;; *) false ;; esac`
