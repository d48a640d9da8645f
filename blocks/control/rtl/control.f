-f ../../stream/rtl/stream.f
pst_access_edge_regs_pkg.sv
pst_access_edge_regs.sv
pst_control.sv
