# What may have changed since the listing before: the layer of a workspace stores each file that was written and each folder in which
# a name was added or removed. Only the kernel sets the time of change, so nothing in here hides one.
use Errno;
use Time::HiRes ();

# Two changes within this time may have the same time of change.
use constant TICK => 0.02;
# More entries are left to git, which examines all files.
use constant MAX_ENTRIES => 20_000;
my (%seen, %now, %rules_seen, %rules_now, $began);

# Returns path and mode of each changed entry, folders before what is in them, and the ignored folders, in which nothing is listed.
# Sets `$$problem` if git has to examine all files: the listing is complete nevertheless.
sub list_changes {
  my ($problem) = @_;
  $began = Time::HiRes::time() - TICK;
  %now = %rules_now = ();
  my ($top) = entry_changed('', $problem);
  my @changed = $top // ();
  my (@folders, @ignored) = ('');
  while (@folders) {
    my $folder = shift @folders;
    watch_rules($folder, $problem);
    opendir(my $opened, "$changes/$folder") or do { unknown($folder, $problem); next };
    while (defined(my $name = readdir $opened)) {
      next if $name eq '.' || $name eq '..' || $folder eq '' && $name eq '.git';
      my $path = $folder eq '' ? $name : "$folder/$name";
      my ($changed, $mode) = entry_changed($path, $problem);
      $$problem //= 'a repository' if lc $name eq '.git' && !is_removed($mode);
      if (!S_ISDIR($mode)) { push @changed, $changed // () }
      elsif (lc $name eq '.git') { }
      elsif (is_ignored($path, 1)) { push @ignored, $path }
      else {
        push @changed, $changed // ();
        push @folders, $path;
      }
      last if keys %now > MAX_ENTRIES;
    }
    if (keys %now > MAX_ENTRIES) {
      $$problem = 'many files';
      %now = ();
      last;
    }
  }
  for (grep { !exists $rules_now{$_} } keys %rules_seen) {
    $$problem //= 'ignore rules' if $rules_seen{$_} ne '';
    forget_ignored();
  }
  return (\@changed, \@ignored);
}

# The next listing is compared with this one.
sub remember_listing { (%seen, %rules_seen) = (); %seen = %now; %rules_seen = %rules_now }

# The rules of a folder are those that git finds, whether the layer stores them or not. Call it before git is asked about what is in there.
sub watch_rules {
  my ($folder, $problem) = @_;
  my ($inode, $mode, $size, $changed_at) = (Time::HiRes::lstat("$files/$folder/.gitignore"))[1, 2, 7, 10];
  # A pipe would block git.
  die "ignore rules\n" if defined $mode && !S_ISREG($mode) && !S_ISLNK($mode) && !S_ISDIR($mode);
  my $state = defined $inode ? "$inode $mode $size $changed_at" : '';
  my $known = $rules_seen{$folder};
  # They may change once more within the tick.
  $rules_now{$folder} = defined $inode && $changed_at >= $began ? 'new' : $state;
  return if defined $known && $known eq $state;
  if (defined $known) {
    $$problem //= 'ignore rules';
    forget_rules();
  }
  else { forget_ignored() }
}

# Returns path and mode of an entry if it has changed, and its mode; 0 for one that is gone: then its folder has changed.
sub entry_changed {
  my ($path, $problem) = @_;
  my ($inode, $mode, $size, $changed_at) = (Time::HiRes::lstat($path eq '' ? $changes : "$changes/$path"))[1, 2, 7, 10];
  if (!defined $inode) {
    unknown($path, $problem) if !$!{ENOENT};
    return (undef, 0);
  }
  my $state = "$inode $mode $size $changed_at";
  # It may change once more within the tick.
  $now{$path} = $changed_at < $began ? $state : '';
  return (($seen{$path} // '') eq $state ? undef : [$path, $mode], $mode);
}

sub unknown {
  my ($path, $problem) = @_;
  $$problem //= 'a path cannot be read';
  $now{$path} = '';
}

# A name that was removed in a layer. The agent may create such a device only where there is no layer.
sub is_removed { my ($mode) = @_; return S_ISCHR($mode) && $changes ne $files }
