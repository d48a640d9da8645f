-f ../../common/rtl/common.f
../../stream/rtl/pst_ram_fifo.sv
pst_mac_width.sv
pst_pause_watch.sv
pst_pause_send.sv
pst_pause_receive.sv
pst_pause_gate.sv
pst_mac_fifo.sv
