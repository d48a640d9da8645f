-f ../../stream/rtl/stream.f
pst_islip.sv
pst_voq.sv
pst_islip_switch.sv
