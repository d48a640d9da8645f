-f ../../../blocks/queue/rtl/queue.f
-f ../../../blocks/schedule/rtl/schedule.f
pst_access_edge_core.sv
