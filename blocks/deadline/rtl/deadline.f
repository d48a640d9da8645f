-f ../../common/rtl/common.f
-f ../../stream/rtl/stream.f
../../memory/rtl/pst_memory_pkg.sv
pst_deadline_pkg.sv
pst_deadline_intake.sv
pst_deadline_lanes.sv
pst_deadline_slots.sv
pst_deadline_tail.sv
