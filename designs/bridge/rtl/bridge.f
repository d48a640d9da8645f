-f ../../../blocks/common/rtl/common.f
-f ../../../blocks/crossing/rtl/crossing.f
-f ../../../blocks/count/rtl/count.f
-f ../../access_edge/rtl/access_edge_core.f
../../../blocks/stream/rtl/pst_ram_fifo.sv
../../../blocks/mac/rtl/pst_mac_width.sv
../../../blocks/memory/rtl/pst_page_allocator.sv
../../../blocks/memory/rtl/pst_free_merge.sv
pst_bridge_values_pkg.sv
pst_bridge_regs_pkg.sv
pst_bridge_regs.sv
pst_bridge_pkg.sv
pst_bridge_receive.sv
pst_bridge_headers.sv
pst_bridge_pack.sv
pst_bridge_store.sv
pst_bridge_settings.sv
pst_bridge_queues.sv
pst_bridge_send.sv
pst_bridge_shaped.sv
pst_bridge.sv
pst_bridge_tally.sv
pst_bridge_control.sv
