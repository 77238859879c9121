# What git ignores, which a git that stays reports. It has read the rules of the folders that it was in.
use IPC::Open2;
my ($checker, %ignored);

sub is_ignored {
  my ($path, $folder) = @_;
  return $ignored{"$path\0$folder"} //= ignored_by_git($path);
}

sub ignored_by_git {
  my ($path) = @_;
  $checker //= start_checker();
  # A path that begins with a colon would be a pattern.
  print { $checker->{in} } "./$path\0";
  local $/ = "\0";
  my ($source, $line, $pattern, $same) = map { readline($checker->{out}) // die "git has ended\n" } 1 .. 4;
  die "git has read another path\n" if $same ne "./$path\0";
  return $pattern ne "\0" && $pattern !~ /^!/ ? 1 : 0;
}

sub start_checker {
  my $pid = open2(my $out, my $in, qw(git check-ignore --stdin -z --no-index --verbose --non-matching));
  $in->autoflush(1);
  binmode $_ for $in, $out;
  return { pid => $pid, in => $in, out => $out };
}

# A folder has come or gone. With a path at the top, git leaves the rules of all folders below.
sub forget_ignored {
  %ignored = ();
  ignored_by_git('top') if $checker;
}

# Rules have changed: a git that has read them is replaced.
sub forget_rules {
  %ignored = ();
  return if !$checker;
  close $checker->{in};
  close $checker->{out};
  waitpid $checker->{pid}, 0;
  $checker = undef;
}
