# Takes snapshots of a workspace from the paths that have changed. Standard input has one request per line:
#
#   take TREE HEAD   the snapshot before, which contains the files of a later moment than that of the request before; a head "any" may have changed
#
# The response is "captured" when the files may change again, then "tree TREE BRANCH"; or "git REASON": git has to examine all files now.
#
#   pack TREE PARENTS ALSO WITHOUT
#                    lists of commits have commas; the response is "pack COMMIT BYTES" and that many bytes, or "git REASON"
$| = 1;
binmode $_ for *STDIN, *STDOUT;
local $SIG{PIPE} = 'IGNORE';
# More are left to git.
use constant MAX_CHANGED => 2_000;

# Returns commit and branch of the workspace, as read_head in checkpoint.sh does.
sub read_head {
  my $git = "$files/.git";
  my $line = -d $git && !-l $git ? first_line("$git/HEAD") : undef;
  return ('none', '') if !defined $line;
  return ($line =~ /^[0-9a-f]{40}$/ ? $line : 'none', '') if $line !~ m{^ref: (refs/heads/(.+))$} || $line =~ /\.\./;
  my ($ref, $branch) = ($1, $2);
  my $sha = first_line("$git/$ref") // packed_ref("$git/packed-refs", $ref);
  return ($sha =~ /^[0-9a-f]{40}$/ ? $sha : 'none', $branch);
}

sub first_line {
  my ($path) = @_;
  return if !-f $path;
  sysopen(my $file, $path, O_RDONLY | O_NONBLOCK) or die "a reference cannot be read\n";
  my $length = sysread($file, my $bytes, 4096) // die "a reference cannot be read\n";
  my ($line) = split /\n/, $bytes, 2;
  die "an odd reference\n" if $length == 4096 || ($line // '') =~ /[\x00-\x1f\x7f]/;
  return $line // '';
}

sub packed_ref {
  my ($path, $ref) = @_;
  return 'none' if !-f $path;
  open(my $file, '<', $path) or die "a reference cannot be read\n";
  my $found = 'none';
  while (my $line = <$file>) { $found = $1 if $line =~ /^(\S+) \Q$ref\E$/ }
  return $found;
}

# Returns what has become of the changed entries, as `apply_changes` expects it.
sub examine {
  my ($tree, @changed) = @_;
  my %ops;
  for (@changed) {
    my ($path, $mode) = @$_;
    if (S_ISDIR($mode)) {
      # Git reports what is in it.
      die "a folder cannot be read\n" if ($mode & 0500) != 0500;
      examine_folder($tree, $path, \%ops);
    }
    # A removed name of a layer; its folder has changed.
    elsif (!S_ISCHR($mode)) { examine_file($tree, $path, \%ops) }
  }
  return \%ops;
}

sub examine_folder {
  my ($tree, $path, $ops) = @_;
  my ($mode, $sha) = lookup($tree, $path) or return;
  if ($mode ne '40000') {
    $ops->{$path} = undef;
    return;
  }
  opendir(my $folder, "$files/$path") or die "a folder cannot be read: $!\n";
  my %there = map { $_ => 1 } readdir $folder;
  my $entries = entries_in($sha);
  for my $name (keys %$entries) {
    next if $there{$name};
    die "a submodule\n" if $entries->{$name} =~ /^160000 /;
    $ops->{$path eq '' ? $name : "$path/$name"} = undef;
  }
}

sub examine_file {
  my ($tree, $path, $ops) = @_;
  my ($mode, $sha) = lookup($tree, $path);
  my $tracked = defined $mode && $mode ne '40000';
  if (!$tracked && is_ignored($path)) {
    $ops->{$path} = undef if defined $mode;
    return;
  }
  my $file = write_file($path);
  return if !$file && !defined $mode;
  in_repository($path) and die "a repository\n" if $file && !$tracked;
  $ops->{$path} = $file if !$file || !$tracked || "@$file" ne "$mode $sha";
}

# Whether a folder on the way to the path is a repository of its own.
sub in_repository {
  my ($path) = @_;
  while ($path =~ s{/[^/]*$}{}) { return 1 if lstat "$files/$path/.git" }
  return 0;
}

sub take {
  my ($tree, $head) = @_;
  forget_trees();
  my ($problem, $branch, $ops);
  my @changed = list_changes($tree, \$problem);
  forget_rules() if $problem;
  $problem //= 'many changes' if @changed > MAX_CHANGED;
  if (!$problem) {
    (my $new_head, $branch) = read_head();
    $problem = 'a new commit' if $head ne 'any' && $new_head ne $head;
  }
  $ops = examine($tree, @changed) if !$problem;
  remember_listing();
  return "git $problem" if $problem;
  print "captured\n";
  my $new = %$ops ? apply_changes($tree, $ops) : $tree;
  note_tree($new) if $new ne $tree;
  return "tree $new $branch";
}

# The index is to be brought up to it before git uses it.
sub note_tree {
  my ($tree) = @_;
  # In place: a file system may write a file to the disk that replaces another one. Each text is as long.
  sysopen(my $file, "$shadow/tree", O_WRONLY | O_CREAT, 0600) or die "the tree cannot be noted: $!\n";
  my $written = syswrite($file, "$tree\n") // 0;
  $written == 41 && close $file or die "the tree cannot be noted: $!\n";
}

sub respond {
  my ($verb, @words) = @_;
  return take(@words) if $verb eq 'take';
  my ($tip, $pack) = pack_objects(@words) or return 'git has to pack';
  return "pack $tip " . length($pack) . "\n$pack";
}

while (my $request = <STDIN>) {
  chomp $request;
  my @words = split / /, $request, -1;
  my $response = eval { respond(@words) };
  if (!defined $response) {
    # What it has seen may not be in a tree.
    ($response = "git $@") =~ tr/\n/ /;
    remember_listing() if $words[0] eq 'take';
    forget_rules();
  }
  print $response, $response =~ /^pack/ ? '' : "\n";
}
