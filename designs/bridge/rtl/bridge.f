-f ../../../blocks/common/rtl/common.f
-f ../../../blocks/crossing/rtl/crossing.f
../../../blocks/stream/rtl/pst_ram_fifo.sv
pst_bridge_receive.sv
pst_bridge_send.sv
pst_bridge.sv
