/**
 * Numbers of the system calls that the sandbox refuses or inspects; null where the architecture has no such
 * call.
 */
type Numbers = { x64: number | null; arm64: number | null }

const both = (number: number): Numbers => ({ x64: number, arm64: number })
const numbers = (x64: number | null, arm64: number | null): Numbers => ({ x64, arm64 })

/**
 * Refused with EPERM: other processes' memory, namespaces, mounts, keys, kernel modules, clocks and other
 * machine-wide state.
 */
export const forbidden_calls: Record<string, Numbers> = {
  ptrace: numbers(101, 117),
  process_vm_readv: numbers(310, 270),
  process_vm_writev: numbers(311, 271),
  process_madvise: both(440),
  kcmp: numbers(312, 272),
  pidfd_getfd: both(438),
  add_key: numbers(248, 217),
  request_key: numbers(249, 218),
  keyctl: numbers(250, 219),
  bpf: numbers(321, 280),
  perf_event_open: numbers(298, 241),
  userfaultfd: numbers(323, 282),
  mount: numbers(165, 40),
  umount2: numbers(166, 39),
  pivot_root: numbers(155, 41),
  chroot: numbers(161, 51),
  unshare: numbers(272, 97),
  setns: numbers(308, 268),
  open_tree: both(428),
  move_mount: both(429),
  fsopen: both(430),
  fsconfig: both(431),
  fsmount: both(432),
  fspick: both(433),
  mount_setattr: both(442),
  statmount: both(457),
  listmount: both(458),
  open_by_handle_at: numbers(304, 265),
  name_to_handle_at: numbers(303, 264),
  fanotify_init: numbers(300, 262),
  fanotify_mark: numbers(301, 263),
  quotactl: numbers(179, 60),
  swapon: numbers(167, 224),
  swapoff: numbers(168, 225),
  reboot: numbers(169, 142),
  kexec_load: numbers(246, 104),
  kexec_file_load: numbers(320, 294),
  init_module: numbers(175, 105),
  finit_module: numbers(313, 273),
  delete_module: numbers(176, 106),
  syslog: numbers(103, 116),
  acct: numbers(163, 89),
  settimeofday: numbers(164, 170),
  clock_settime: numbers(227, 112),
  clock_adjtime: numbers(305, 266),
  adjtimex: numbers(159, 171),
  sethostname: numbers(170, 161),
  setdomainname: numbers(171, 162),
  vhangup: numbers(153, 58),
  mbind: numbers(237, 235),
  set_mempolicy: numbers(238, 237),
  set_mempolicy_home_node: both(450),
  migrate_pages: numbers(256, 238),
  move_pages: numbers(279, 239),
  lookup_dcookie: numbers(212, 18),
  nfsservctl: numbers(180, 42),
  iopl: numbers(172, null),
  ioperm: numbers(173, null),
  modify_ldt: numbers(154, null),
  uselib: numbers(134, null),
  ustat: numbers(136, null),
  sysfs: numbers(139, null),
  _sysctl: numbers(156, null),
}

/** Refused with ENOSYS, as by an old kernel: callers fall back to calls that can be inspected. */
export const absent_calls: Record<string, Numbers> = {
  clone3: both(435),
  io_uring_setup: both(425),
  io_uring_enter: both(426),
  io_uring_register: both(427),
  memfd_secret: both(447),
  // The kernel has a fixed number of contexts for the whole machine.
  io_setup: numbers(206, 0),
  quotactl_fd: both(443),
}

/** The program decides these by their arguments. */
export const inspected_calls = {
  clone: { x64: 56, arm64: 220 },
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
  ioctl: { x64: 16, arm64: 29 },
  personality: { x64: 135, arm64: 92 },
  prlimit64: { x64: 302, arm64: 261 },
}

/**
 * Requests to devices and file systems: typing into another terminal; other line disciplines, for which the
 * kernel loads modules with many known vulnerabilities; Btrfs subvolumes within a workspace, which are
 * neither counted nor removed.
 */
export const refused_requests: Record<string, number> = {
  TIOCSTI: 0x5412,
  TIOCLINUX: 0x541c,
  TIOCSETD: 0x5423,
  BTRFS_IOC_SNAP_CREATE: 0x50009401,
  BTRFS_IOC_SUBVOL_CREATE: 0x5000940e,
  BTRFS_IOC_SNAP_CREATE_V2: 0x50009417,
  BTRFS_IOC_SUBVOL_CREATE_V2: 0x50009418,
}

/** Permitted protocols of internet sockets, by type: the default, and TCP for streams, UDP for datagrams. */
export const internet_protocols: Record<number, number[]> = { 1: [0, 6], 2: [0, 17] }

/** The first number that was not reviewed (open_tree_attr of Linux 6.15): it and all above get ENOSYS. */
export const first_unknown_call = 467
