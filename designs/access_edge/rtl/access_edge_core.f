-f ../../../blocks/queue/rtl/queue.f
-f ../../../blocks/schedule/rtl/schedule.f
-f ../../../blocks/aqm/rtl/aqm.f
-f ../../../blocks/hierarchy/rtl/hierarchy.f
pst_access_edge_arrivals.sv
pst_access_edge_judge.sv
pst_access_edge_core.sv
