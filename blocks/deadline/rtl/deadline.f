-f ../../common/rtl/common.f
-f ../../stream/rtl/stream.f
../../memory/rtl/pst_memory_pkg.sv
pst_deadline_pkg.sv
pst_deadline_due.sv
pst_deadline_intake.sv
pst_deadline_lanes.sv
pst_deadline_slots.sv
pst_deadline_tail.sv
pst_deadline_pick.sv
pst_deadline_fetch.sv
pst_deadline_land.sv
pst_deadline_lines.sv
pst_deadline_token.sv
pst_deadline_queues.sv
pst_deadline_sender.sv
pst_deadline_head.sv
pst_deadline_stamps.sv
pst_deadline_mover.sv
pst_dscp_class.sv
pst_chunk_lists.sv
pst_deadline_encoder.sv
pst_edfr_positions.sv
pst_edfr_gather.sv
pst_edfr.sv
