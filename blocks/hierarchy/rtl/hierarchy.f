-f ../../stream/rtl/stream.f
../../memory/rtl/pst_ram_1r1w.sv
../../memory/rtl/pst_ram_write_first.sv
../../memory/rtl/pst_ram_modify.sv
../../schedule/rtl/pst_sched_lists.sv
../../schedule/rtl/pst_wheel_when.sv
../../schedule/rtl/pst_timing_wheel.sv
../../schedule/rtl/pst_shaper_increment.sv
pst_hierarchy_pkg.sv
pst_gate.sv
pst_fair_lists.sv
pst_round_credit.sv
pst_sibling_order.sv
pst_waiting_queues.sv
pst_siblings.sv
pst_subscriber_queues.sv
pst_hierarchy.sv
