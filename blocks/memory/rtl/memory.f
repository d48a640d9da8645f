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
pst_share_write.sv
pst_share_read.sv
pst_share_pages.sv
pst_shared_fabric.sv
pst_memory_fabric.sv
