-f ../../common/rtl/common.f
../../memory/rtl/pst_memory_pkg.sv
pst_deadline_pkg.sv
pst_dscp_class.sv
pst_chunk_lists.sv
pst_deadline_encoder.sv
