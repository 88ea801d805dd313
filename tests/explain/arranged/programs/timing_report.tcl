# SPDX-License-Identifier: MIT
# Report the slack of all paths of a random netlist: tclsh timing_report.tcl CELLS FANOUT
set cells [lindex $argv 0]
set fanout [lindex $argv 1]
expr {srand(11)}

proc say {text} {
    puts "\[[clock format [clock seconds] -format %H:%M:%S]\] $text"
    flush stdout
}

proc resident {} {
    set file [open /proc/self/status]
    regexp {VmSize:\s+(\d+)} [read $file] -> kib
    close $file
    return [expr {$kib / 1024}]
}

say "reading netlist of $cells cells, fanout $fanout"
for {set cell 0} {$cell < $cells} {incr cell} {
    set delay($cell) [expr {20 + int(rand() * 60)}]
    set targets {}
    for {set pin 0} {$pin < $fanout} {incr pin} {
        lappend targets [expr {$cell + 1 + int(rand() * 9)}]
    }
    set drives($cell) $targets
}
say "netlist read, [resident] MiB"

# each path is kept with its cells, for the detailed report
set paths {}
for {set cell 0} {$cell < $cells} {incr cell} {
    set arrival 0
    set path {}
    set at $cell
    while {[info exists drives($at)] && [llength $path] < 40} {
        lappend path U$at
        incr arrival $delay($at)
        set at [lindex $drives($at) [expr {int(rand() * $fanout)}]]
    }
    lappend paths [list [expr {2500 - $arrival}] $path]
    if {$cell % 20000 == 19999} {
        say "[expr {$cell + 1}] startpoints done, [resident] MiB"
    }
}
set worst [lindex [lsort -integer -index 0 $paths] 0]
say "worst slack [lindex $worst 0] ps: [join [lrange [lindex $worst 1] 0 5] { -> }] ..."
