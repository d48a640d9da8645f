# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# For the FuseSoC target `vivado`: out of context, with the clock that CLOCK_MHZ says (environment; @MHZ@ unless set).
# Not run by Penstock's tests, which have no Vivado.
set mhz [expr {[info exists ::env(CLOCK_MHZ)] ? $::env(CLOCK_MHZ) : @MHZ@}]
set xdc [file normalize pst_clock.xdc]
set out [open $xdc w]
puts $out "create_clock -name clk -period [format %.3f [expr {1000.0 / $mhz}]] \[get_ports @CLOCK@\]"
close $out
add_files -fileset constrs_1 $xdc
set_property -name {STEPS.SYNTH_DESIGN.ARGS.MORE OPTIONS} -value {-mode out_of_context} -objects [get_runs synth_1]
