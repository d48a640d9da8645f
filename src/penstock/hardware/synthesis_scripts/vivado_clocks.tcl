# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# The clocks of @TOP@: name, period in ns, port. CLOCK_MHZ (environment; @MHZ@ unless set) is that of all, but for those with a variable set.
set mhz [expr {[info exists ::env(CLOCK_MHZ)] ? $::env(CLOCK_MHZ) : @MHZ@}]
set clocks {}
foreach {name port variable} {@CLOCKS@} {
  set of_clock [expr {[info exists ::env($variable)] ? $::env($variable) : $mhz}]
  lappend clocks [list $name [format %.3f [expr {1000.0 / $of_clock}]] $port]
}

# Writes them as constraints, which synthesis reads before anything else.
proc write_clocks {path clocks} {
  set file [open $path w]
  foreach clock $clocks { puts $file "create_clock -name [lindex $clock 0] -period [lindex $clock 1] \[get_ports {[lindex $clock 2]}\]" }
  close $file
}
