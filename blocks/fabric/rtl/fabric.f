-f ../../common/rtl/common.f
pst_fabric_pkg.sv
pst_fabric_register.sv
pst_batcher_sort.sv
pst_adder_tree.sv
pst_prefix_sum.sv
pst_offset_counters.sv
pst_fabric_offsets.sv
pst_rotator.sv
pst_fabric_fifo.sv
pst_rotating_arbiter.sv
pst_batch_arbiter.sv
pst_fabric_group.sv
pst_fabric_output.sv
pst_fabric.sv
