-f ../../../blocks/common/rtl/common.f
pst_deadline_port_drop_pkg.sv
pst_deadline_port_values_pkg.sv
pst_deadline_port_regs_pkg.sv
pst_deadline_port_regs.sv
pst_deadline_control.sv
