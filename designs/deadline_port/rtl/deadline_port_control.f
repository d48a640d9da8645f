-f ../../../blocks/common/rtl/common.f
../../../blocks/common/rtl/pst_axi_pkg.sv
../../../blocks/count/rtl/pst_interrupt.sv
pst_deadline_port_drop_pkg.sv
pst_deadline_port_values_pkg.sv
pst_deadline_port_regs_pkg.sv
pst_deadline_port_regs.sv
pst_deadline_control.sv
