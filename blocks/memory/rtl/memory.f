-f ../../common/rtl/common.f
pst_memory_pkg.sv
pst_page_allocator.sv
pst_page_pools.sv
pst_page_admission.sv
pst_free_merge.sv
pst_burst_splitter.sv
pst_rx_handler.sv
pst_tx_handler.sv
pst_fabric_address.sv
pst_fabric_write.sv
pst_fabric_read.sv
pst_memory_fabric.sv
pst_guard_write.sv
pst_guard_read.sv
pst_memory_guard.sv
