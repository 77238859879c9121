# A pack of what the host does not have of a tree: what differs from the tree that it stored last. Objects of the difference that were not
# written here are git's, or the host may have them under another name: then git packs, as it does what is large, with better deltas.
use constant MAX_PACK_BYTES => 1024 ** 2;
use constant TYPES => { commit => 1, tree => 2, blob => 3, delta => 7 };
# A delta of a smaller object saves nothing.
use constant MIN_DELTA_BYTES => 256;
# A larger one is of a file with several changes, for which git writes a smaller one.
use constant MAX_DELTA_BYTES => 16 * 1024;
# By object: its type and its bytes.
my %fresh;
my $fresh_bytes = 0;
# The tree that the host has, the one that was requested last, which objects it needs, and the commits that the host had then.
my ($stored, $requested, @needed, $without_then);

sub note_fresh {
  my ($sha, $type, $bytes) = @_;
  ($fresh_bytes, %fresh) = (0) if $fresh_bytes > MAX_PACK_BYTES;
  $fresh{$sha} = [$type, $bytes];
  $fresh_bytes += length $bytes;
}

# Returns commit and bytes of a pack for tree $tree, or nothing when git has to pack. $without: commits that the host has; they are others
# than at the last request when it has stored what was requested then.
sub pack_objects {
  my ($tree, $parents, $also, $without) = @_;
  if (defined $without_then && $without_then ne $without) {
    $stored = $requested;
    for my $sha (@needed) {
      my $object = delete $fresh{$sha} or next;
      $fresh_bytes -= length $object->[1];
    }
  }
  ($without_then, $requested, @needed) = ($without, $tree);
  return if !defined $stored || $also ne '';
  my %entries;
  add_difference($tree, $stored, \%entries) or return;
  @needed = keys %entries;
  my $commit = join '', "tree $tree\n", (map { "parent $_\n" } split /,/, $parents),
    "author checkpoint <> 1 +0000\ncommitter checkpoint <> 1 +0000\n\ncheckpoint\n";
  my $tip = write_object('commit', $commit);
  my $pack = pack('A4NN', 'PACK', 2, 1 + @needed) . join '', entry('commit', $commit), values %entries;
  return ($tip, $pack . Digest::SHA->new(1)->add($pack)->digest);
}

# Adds an entry for each object of tree $new that $old (undef: none) does not have at its path. Returns whether all are known.
sub add_difference {
  my ($new, $old, $entries) = @_;
  return 1 if $entries->{$new};
  $entries->{$new} = fresh_entry($new, $old) // return 0;
  my $before = defined $old ? entries_in($old) : {};
  my $after = entries_in($new);
  for my $name (keys %$after) {
    my $entry = $after->{$name};
    my $same = $before->{$name};
    next if defined $same && $same eq $entry;
    my ($mode, $sha) = split / /, $entry;
    my ($mode_then, $sha_then) = split / /, $same // '';
    next if ($sha_then // '') eq $sha || $mode eq '160000';
    my $base = defined $same && ($mode eq '40000') == ($mode_then eq '40000') && $mode_then ne '160000' ? $sha_then : undef;
    if ($mode eq '40000') { add_difference($sha, $base, $entries) or return 0 }
    else { $entries->{$sha} //= fresh_entry($sha, $base) // return 0 }
  }
  return 1;
}

# $base: an object that the host has.
sub fresh_entry {
  my ($sha, $base) = @_;
  my $object = $fresh{$sha} // return undef;
  my ($type, $bytes) = @$object;
  if (defined $base && length $bytes >= MIN_DELTA_BYTES) {
    my $delta = delta($type eq 'tree' ? tree_bytes($base) : read_object($base), $bytes);
    return entry('delta', $delta, pack('H40', $base)) if length $delta < length($bytes) / 2 && length $delta < MAX_DELTA_BYTES;
    return undef if length $bytes > MAX_DELTA_BYTES;
  }
  return entry($type, $bytes);
}

sub entry {
  my ($type, $bytes, $base) = @_;
  my $size = length $bytes;
  my $header = chr((TYPES->{$type} << 4) | ($size & 15) | ($size > 15 ? 128 : 0));
  $header .= size_bytes($size >> 4) if $size > 15;
  return $header . ($base // '') . compress_bytes($bytes);
}

# Seven bits a byte, the lowest first.
sub size_bytes {
  my ($size) = @_;
  my $bytes = '';
  for (; $size > 127; $size >>= 7) { $bytes .= chr(128 | $size & 127) }
  return $bytes . chr $size;
}

# What makes $to of $from: the bytes that both begin and end with are copied.
sub delta {
  my ($from, $to) = @_;
  my $most = length $from < length $to ? length $from : length $to;
  my $begin = common($from, $to, $most);
  my $end = common(scalar reverse($from), scalar reverse($to), $most - $begin);
  my $delta = size_bytes(length $from) . size_bytes(length $to) . copy_bytes(0, $begin);
  for my $part (unpack '(a127)*', substr $to, $begin, length($to) - $begin - $end) { $delta .= chr(length $part) . $part }
  return $delta . copy_bytes(length($from) - $end, $end);
}

sub common {
  my ($one, $other, $most) = @_;
  return 0 if $most <= 0;
  (substr($one, 0, $most) ^ substr($other, 0, $most)) =~ /^(\0*)/;
  return length $1;
}

sub copy_bytes {
  my ($offset, $size) = @_;
  my $copies = '';
  while ($size > 0) {
    my $length = $size > 0xffff ? 0xffff : $size;
    my ($flags, $bytes) = (128, '');
    for my $i (0 .. 3) {
      my $byte = $offset >> 8 * $i & 255;
      if ($byte) { $flags |= 1 << $i; $bytes .= chr $byte }
    }
    for my $i (0 .. 1) {
      my $byte = $length >> 8 * $i & 255;
      if ($byte) { $flags |= 16 << $i; $bytes .= chr $byte }
    }
    $copies .= chr($flags) . $bytes;
    $offset += $length;
    $size -= $length;
  }
  return $copies;
}
