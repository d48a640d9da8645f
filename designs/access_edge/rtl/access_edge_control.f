-f ../../../blocks/common/rtl/common.f
../../../blocks/common/rtl/pst_axi_pkg.sv
../../../blocks/hierarchy/rtl/pst_hierarchy_pkg.sv
../../../blocks/count/rtl/pst_interrupt.sv
../../../blocks/lookup/rtl/pst_lookup_pkg.sv
../../../blocks/parse/rtl/pst_parse_pkg.sv
../../../blocks/profile/rtl/pst_profile_pkg.sv
pst_access_edge_ports_pkg.sv
pst_access_edge_values_pkg.sv
pst_access_edge_regs_pkg.sv
pst_access_edge_regs.sv
pst_control_bus.sv
pst_control_pkg.sv
pst_control_command.sv
pst_control_shown.sv
pst_control_interrupt.sv
pst_control_wait.sv
pst_control.sv
