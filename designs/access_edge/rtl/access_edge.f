-f ../../../blocks/common/rtl/common.f
-f ../../../blocks/classify/rtl/classify.f
-f ../../../blocks/profile/rtl/profile.f
-f ../../../blocks/memory/rtl/memory.f
-f ../../../blocks/count/rtl/count.f
-f ../../../blocks/settings/rtl/settings.f
-f access_edge_control.f
-f access_edge_core.f
pst_access_edge_buckets.sv
pst_access_edge_scan.sv
pst_access_edge_nodes.sv
pst_access_edge_counters.sv
pst_access_edge_drain.sv
pst_access_edge.sv
