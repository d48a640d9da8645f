# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# Area and clock of this package on an Alveo U200, out of context, placed and routed:
#   CLOCK_MHZ=300 vivado -mode batch -source synth/vivado.tcl
# Reports: synth/build/utilization.rpt, synth/build/timing.rpt; and a line for each clock. Not run by Penstock's tests, which have no Vivado.
set package [file dirname [file dirname [file normalize [info script]]]]
cd $package
file mkdir synth/build
source synth/vivado_clocks.tcl
set list [open @LIST@]
foreach name [split [string trim [read $list]] "\n"] { read_verilog -sv $name }
close $list
synth_design -top @TOP@ -part @PART@ -mode out_of_context @GENERICS@
foreach clock $clocks { create_clock -name [lindex $clock 0] -period [lindex $clock 1] [get_ports [lindex $clock 2]] }
foreach file {@CONSTRAINTS@} { read_xdc $file }
opt_design
place_design
phys_opt_design
route_design
report_utilization -file synth/build/utilization.rpt
report_timing_summary -file synth/build/timing.rpt
foreach clock $clocks {
  lassign $clock name period
  set slack [get_property SLACK [get_timing_paths -from [get_clocks $name] -to [get_clocks $name]]]
  if {$slack eq ""} { continue }
  puts "@TOP@ on @PART@, $name of $period ns: slack $slack ns, so [format %.1f [expr {1000.0 / ($period - $slack)}]] MHz"
}
