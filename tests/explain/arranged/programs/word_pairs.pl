#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Count pairs of words that follow each other in court rulings: word_pairs.pl RULINGS
use strict;
use warnings;

my $rulings = shift // 1000;
my (%pairs, $seen);
srand(4);
my @stems = map { join '', map { chr(97 + int rand 26) } 1 .. 7 } 1 .. 3000;
print STDERR "reading $rulings rulings\n";
for my $number (1 .. $rulings) {
    my @words = map { $stems[int rand @stems] } 1 .. 300;
    $pairs{"$words[$_ - 1] $words[$_]"}++, $seen++ for 1 .. $#words;
    printf STDERR "%d rulings, %d pairs, %d distinct\n", $number, $seen, scalar keys %pairs if $number % 1000 == 0;
}
my ($top) = sort { $pairs{$b} <=> $pairs{$a} } keys %pairs;
print "$top: $pairs{$top}\n";
