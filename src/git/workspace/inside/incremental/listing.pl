# What may have changed since the snapshot before: the layer of a workspace stores each file that was written and each folder in which
# a name was added or removed. Only the kernel sets the time of change, so nothing in here hides one.
use Errno;
use Time::HiRes ();

# Two changes within this time may have the same time of change.
use constant TICK => 0.02;
# More entries are left to git, which examines all files.
use constant MAX_ENTRIES => 20_000;
my (%seen, %now, %rules_seen, %rules_now, $began);

# Returns path and mode of each changed entry, folders before what is in them. Entries in folders that are ignored are not listed.
# Sets `$$problem` if git has to examine all files: the listing is complete nevertheless.
sub list_changes {
  my ($tree, $problem) = @_;
  $began = Time::HiRes::time() - TICK;
  %now = %rules_now = ();
  my $reread = 0;
  my ($top) = entry_changed('', $problem);
  my @changed = $top // ();
  my @folders = ('');
  while (@folders) {
    my $folder = shift @folders;
    opendir(my $opened, "$changes/$folder") or do { unknown($folder, $problem); next };
    for my $name (readdir $opened) {
      next if $name eq '.' || $name eq '..' || $folder eq '' && $name eq '.git';
      my $path = $folder eq '' ? $name : "$folder/$name";
      my ($changed, $mode) = entry_changed($path, $problem);
      $$problem //= 'a name' if refuses($name, $mode) && ($changed || !S_ISCHR($mode));
      $$problem //= 'ignore rules' if $name eq '.gitignore' && changes_rules($path, $mode, $changed);
      reread_rules() if $changed && S_ISDIR($mode) && !$reread++;
      push @changed, $changed // ();
      push @folders, $path if S_ISDIR($mode) && lc $name ne '.git' && !is_pruned($tree, $path);
    }
    if (keys %now > MAX_ENTRIES) {
      $$problem = 'many files';
      %now = ();
      last;
    }
  }
  $$problem //= 'ignore rules' if grep { !$rules_now{$_} } keys %rules_seen;
  return @changed;
}

# The next listing is compared with this one: call it when git examines all files, or when the changes are in a tree.
sub remember_listing { (%seen, %rules_seen) = (); %seen = %now; %rules_seen = %rules_now }

# A pipe would block git.
sub changes_rules {
  my ($path, $mode, $changed) = @_;
  $rules_now{$path} = 1 if !S_ISCHR($mode);
  return $changed || S_ISFIFO($mode);
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

# Whether git may refuse the name, or take a folder with it for a repository. Names that are only similar are left to git.
sub refuses {
  my ($name, $mode) = @_;
  (my $plain = lc $name) =~ s/[^\x21-\x7e]//g;
  return 0 if $plain !~ /^(?:\.git|git~)/;
  return 1 if S_ISLNK($mode);
  return $plain !~ /^\.git(?:attributes|hub|ignore|keep|lab-ci\.yml|modules)$/;
}

sub is_pruned {
  my ($tree, $path) = @_;
  my ($mode) = lookup($tree, $path);
  return !defined $mode && is_ignored($path);
}
