-f ../../common/rtl/common.f
-f ../../timing/rtl/timing.f
pst_hierarchy_pkg.sv
pst_gate.sv
pst_fair_lists.sv
pst_round_credit.sv
pst_sibling_guarantees.sv
pst_sibling_order.sv
pst_waiting_queues.sv
pst_siblings.sv
pst_waits_above.sv
pst_subscriber_queues.sv
pst_hierarchy_place.sv
pst_hierarchy.sv
