# Trees of git: where a path leads in one, and what a tree becomes by changes of paths below it.

use constant NO_FILES => '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
# Bytes of trees that are remembered.
use constant MAX_TREE_BYTES => 16 * 1024 ** 2;
my (%bytes_of, %entries_of);
my $remembered = 0;

sub tree_bytes {
  my ($sha) = @_;
  return '' if $sha eq NO_FILES;
  return $bytes_of{$sha} //= do {
    my $bytes = read_object($sha);
    $remembered += length $bytes;
    $bytes;
  };
}

# Between two snapshots.
sub forget_trees {
  return if $remembered < MAX_TREE_BYTES;
  (%bytes_of, %entries_of) = ();
  $remembered = 0;
}

# By name: mode and object, with a blank between.
sub entries_in {
  my ($sha) = @_;
  return $entries_of{$sha} //= do {
    my %entries;
    my $bytes = tree_bytes($sha);
    while ($bytes =~ /\G([0-7]+) ([^\0]+)\0(.{20})/gs) { $entries{$2} = "$1 " . unpack('H40', $3) }
    \%entries;
  };
}

# Returns mode and object of a path, or nothing.
sub lookup {
  my ($root, $path) = @_;
  my ($mode, $sha) = ('40000', $root);
  for my $name (split m{/}, $path) {
    die "a submodule\n" if $mode eq '160000';
    return if $mode ne '40000';
    my $entry = entries_in($sha)->{$name} // return;
    ($mode, $sha) = split / /, $entry;
  }
  die "a submodule\n" if $mode eq '160000';
  return ($mode, $sha);
}

# $ops: by path, mode and object of a file, or undef for what is gone. Returns the tree with them.
sub apply_changes {
  my ($root, $ops) = @_;
  my %top;
  for my $path (keys %$ops) {
    my @names = split m{/}, $path;
    my $last = pop @names;
    my $at = \%top;
    $at = ($at->{$_} //= {})->{in} //= {} for @names;
    $at->{$last}{op} = [$ops->{$path}];
  }
  return rewrite($root, \%top) // write_object('tree', '');
}

# Returns the tree that `$sha` (undef: none) becomes, or undef when nothing is left in it.
sub rewrite {
  my ($sha, $changed) = @_;
  my $before = defined $sha ? tree_bytes($sha) : '';
  my $entries = defined $sha ? entries_in($sha) : {};
  my %after;
  while (my ($name, $change) = each %$changed) {
    my ($op, $in) = @$change{qw(op in)};
    my ($mode, $object) = $op ? @{ $op->[0] // [] } : split / /, $entries->{$name} // '';
    die "a file and a folder\n" if $in && $op && defined $mode;
    die "a submodule\n" if $in && ($mode // '') eq '160000';
    if ($in) {
      $object = rewrite(($mode // '') eq '40000' ? $object : undef, $in);
      $mode = '40000';
    }
    $after{$name} = defined $object ? [$mode, $object] : undef;
  }
  my $bytes = merge_entries($before, \%after);
  return undef if $bytes eq '';
  my $new = write_object('tree', $bytes);
  if (!exists $bytes_of{$new}) {
    $bytes_of{$new} = $bytes;
    $remembered += length $bytes;
  }
  return $new;
}

# Names in the order of git, in which the name of a folder ends with a slash.
sub sort_key { my ($mode, $name) = @_; return $mode eq '40000' ? "$name/" : $name }

sub merge_entries {
  my ($bytes, $after) = @_;
  my @added = sort { $a->[0] cmp $b->[0] }
    map { [sort_key($after->{$_}[0], $_), "$after->{$_}[0] $_\0" . pack('H40', $after->{$_}[1])] }
    grep { defined $after->{$_} } keys %$after;
  my $result = '';
  while ($bytes =~ /\G([0-7]+) ([^\0]+)\0.{20}/gs) {
    my ($entry, $mode, $name) = ($&, $1, $2);
    # As the first versions of git wrote: today's writes other ones.
    die "an old mode\n" if $mode !~ /^(?:40000|100644|100755|120000|160000)$/;
    my $key = sort_key($mode, $name);
    while (@added && $added[0][0] lt $key) { $result .= (shift @added)->[1] }
    $result .= $entry if !exists $after->{$name};
  }
  return $result . join '', map { $_->[1] } @added;
}
