# What git ignores, which a git that stays reports. It has read the rules of the folders that it was in.
my ($checker, %ignored);

# A path that is not in the tree.
sub is_ignored {
  my ($path) = @_;
  return $ignored{$path} //= ignored_by_git($path);
}

sub ignored_by_git {
  my ($path) = @_;
  $checker //= start_git(qw(check-ignore --stdin -z --no-index --verbose --non-matching));
  print { $checker->{in} } "$path\0";
  local $/ = "\0";
  my ($source, $line, $pattern, $same) = map { readline($checker->{out}) // die "git has ended\n" } 1 .. 4;
  return $pattern ne "\0" && $pattern !~ /^!/ ? 1 : 0;
}

# Call it when folders have changed: what was ignored in one may have been replaced. A question about a path at the top lets git forget the
# rules of folders below.
sub reread_rules {
  %ignored = ();
  ignored_by_git('top') if $checker;
}

sub forget_rules {
  %ignored = ();
  end_git($checker);
  $checker = undef;
}
