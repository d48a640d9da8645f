# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
# For the FuseSoC target `vivado`: out of context, with the clocks of vivado_clocks.tcl. Not run by Penstock's tests, which have no Vivado.
source [file join [file dirname [file normalize [info script]]] vivado_clocks.tcl]
set xdc [file normalize pst_clock.xdc]
write_clocks $xdc $clocks
add_files -fileset constrs_1 $xdc
set_property PROCESSING_ORDER EARLY [get_files $xdc]
foreach file {@CONSTRAINTS@} {
  set crossing [file join [file dirname [file dirname [file normalize [info script]]]] $file]
  add_files -fileset constrs_1 $crossing
  set_property USED_IN_SYNTHESIS false [get_files $crossing]
  set_property PROCESSING_ORDER LATE [get_files $crossing]
}
set_property -name {STEPS.SYNTH_DESIGN.ARGS.MORE OPTIONS} -value {-mode out_of_context} -objects [get_runs synth_1]
