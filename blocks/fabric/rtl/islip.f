-f ../../common/rtl/common.f
pst_islip.sv
pst_voq.sv
pst_islip_switch.sv
