# SPDX-License-Identifier: MIT
# Draw seats for a stadium and check that no two tickets share one: ruby ticket_draw.rb BLOCKS ROWS
blocks, rows = ARGV.map(&:to_i)
srand 3
puts "#{blocks} blocks with #{rows} rows"
seats = {}
blocks.times do |block|
  plan = Array.new(rows) { |row| "block #{block} row #{row} ".ljust(160, '.') * 4 }
  plan.each_with_index { |text, row| seats[[block, row]] = text }
  puts "block #{block}: #{seats.size} rows planned" if (block % 50).zero?
  $stdout.flush
end
puts "#{seats.values.map(&:size).sum} characters of plan"
