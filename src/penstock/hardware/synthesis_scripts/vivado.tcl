# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# Area and clock of this package on an Alveo U200, out of context, placed and routed:
#   CLOCK_MHZ=300 vivado -mode batch -source synth/vivado.tcl
# Reports in synth/build: utilization, timing, methodology; with several clocks cdc and bus_skew, too. And a line for each clock.
# Not run by Penstock's tests, which have no Vivado.
set package [file dirname [file dirname [file normalize [info script]]]]
cd $package
file mkdir synth/build
source synth/vivado_clocks.tcl
set list [open @LIST@]
foreach name [split [string trim [read $list]] "\n"] { read_verilog -sv $name }
close $list
write_clocks synth/build/clocks.xdc $clocks
read_xdc -mode out_of_context synth/build/clocks.xdc
synth_design -top @TOP@ -part @PART@ -mode out_of_context @GENERICS@
foreach file {@CONSTRAINTS@} { read_xdc $file }
opt_design
place_design
phys_opt_design
route_design
report_utilization -file synth/build/utilization.rpt
report_timing_summary -file synth/build/timing.rpt
report_methodology -file synth/build/methodology.rpt
if {[llength $clocks] > 1} {
  report_cdc -details -file synth/build/cdc.rpt
  report_bus_skew -file synth/build/bus_skew.rpt
}
foreach clock $clocks {
  lassign $clock name period
  set slack [get_property SLACK [get_timing_paths -from [get_clocks $name] -to [get_clocks $name]]]
  if {$slack eq ""} { continue }
  puts "@TOP@ on @PART@, $name of $period ns: slack $slack ns, so [format %.1f [expr {1000.0 / ($period - $slack)}]] MHz"
}
