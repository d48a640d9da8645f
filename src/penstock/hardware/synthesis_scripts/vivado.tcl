# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# Area and clock of this package on an Alveo U200, out of context, placed and routed:
#   CLOCK_MHZ=300 vivado -mode batch -source synth/vivado.tcl
# Reports: synth/build/utilization.rpt, synth/build/timing.rpt. Not run by Penstock's tests, which have no Vivado.
set package [file dirname [file dirname [file normalize [info script]]]]
cd $package
file mkdir synth/build
set mhz [expr {[info exists ::env(CLOCK_MHZ)] ? $::env(CLOCK_MHZ) : @MHZ@}]
set list [open @LIST@]
foreach name [split [string trim [read $list]] "\n"] { read_verilog -sv $name }
close $list
synth_design -top @TOP@ -part @PART@ -mode out_of_context @GENERICS@
create_clock -name clk -period [format %.3f [expr {1000.0 / $mhz}]] [get_ports @CLOCK@]
opt_design
place_design
phys_opt_design
route_design
report_utilization -file synth/build/utilization.rpt
report_timing_summary -file synth/build/timing.rpt
set slack [get_property SLACK [get_timing_paths]]
puts "@TOP@ on @PART@ at $mhz MHz: slack $slack ns, so [format %.1f [expr {1000.0 / (1000.0 / $mhz - $slack)}]] MHz"
